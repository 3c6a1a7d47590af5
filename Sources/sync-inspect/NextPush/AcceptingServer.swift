// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A server in memory that records the requests of a push, accepts every change and does not show rows.
final class AcceptingServer: HTTPTransport {
    /// The operation that the push is sending.
    @TaskLocal static var operation: TableOperation?

    private let dialect: WireDialect
    private let recorded = Mutex<[PlannedPushRequest]>([])

    init(dialect: WireDialect) {
        self.dialect = dialect
    }

    /// The requests, in their order.
    var requests: [PlannedPushRequest] { recorded.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard let operation = Self.operation else { throw CancellationError() }
        let fields = request.body.flatMap { try? ItemValue(json: $0) }?.members ?? [:]
        let number = recorded.withLock { requests in
            let ifMatch = request.head.headerFields[.ifMatch]
            let number = requests.count + 1
            requests.append(
                PlannedPushRequest(
                    number: number, operation: operation.id, method: request.head.method.rawValue,
                    path: request.head.path ?? "", ifMatch: ifMatch,
                    ifMatchOfRequest: ifMatch.flatMap(Self.number).flatMap {
                        (1..<number).contains($0) ? $0 : nil
                    },
                    fields: fields.filter { $0.key != "id" }))
            return number
        }
        switch request.head.method {
        case .get: return Self.response(.notFound, ["error": "The dry run knows no rows of the server."])
        case .delete: return HTTPTransportResponse(status: .noContent)
        default:
            var row = fields
            row["id"] = .text(operation.itemID)
            row[dialect.systemNames.version] = .text(Self.version(after: number))
            return Self.response(operation.kind == .insert ? .created : .ok, row)
        }
    }

    private static let versionPrefix = "sync-inspect-"

    /// Returns the version of the row that the request with that number has changed.
    private static func version(after number: Int) -> String { versionPrefix + String(number) }

    /// Returns the number of the request after which the row has the tag.
    private static func number(inTag tag: String) -> Int? {
        guard tag.hasPrefix("\"" + versionPrefix), tag.hasSuffix("\"") else { return nil }
        return Int(tag.dropFirst(1 + versionPrefix.count).dropLast())
    }

    private static func response(
        _ status: HTTPResponse.Status, _ body: [String: ItemValue]
    ) -> HTTPTransportResponse {
        HTTPTransportResponse(
            status: status, headerFields: [.contentType: "application/json"],
            body: ItemValue.object(body).json)
    }
}

extension ItemValue {
    fileprivate var members: [String: ItemValue]? {
        if case .object(let members) = self { members } else { nil }
    }
}
