// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A minimal in-memory server of the tables protocol, for one table: versions, `If-Match`, 404, 409 and 412.
final class ModelServer: HTTPTransport {
    /// A row; its revision gives its version and its time.
    struct Row: Hashable {
        var fields: [String: ItemValue]
        var revision: Int64 = 1
        var isDeleted = false
    }

    /// The outcome of a write request.
    enum Outcome: CaseIterable {
        /// The server applies the write and responds.
        case accepted
        /// The server does not receive the request.
        case requestLost
        /// The server applies the write, and the client does not receive the response.
        case responseLost
        /// The server does not apply the write, and responds with status 400.
        case refused
    }

    /// The outcome of a write request, and actions that run before and after the server applies it.
    struct Script {
        var outcome = Outcome.accepted
        var beforeApplying: (@Sendable () async -> Void)?
        var afterApplying: (@Sendable () async -> Void)?
    }

    private let state: Mutex<(rows: [String: Row], script: Script)>
    private let deletesSoftly: Bool

    init(rows: [String: Row] = [:], deletesSoftly: Bool = false) {
        state = Mutex((rows, Script()))
        self.deletesSoftly = deletesSoftly
    }

    /// All rows, including tombstones.
    var rows: [String: Row] { state.withLock { $0.rows } }

    /// Sets the script of the next write request; later ones are accepted.
    func setNextWrite(_ script: Script) { state.withLock { $0.script = script } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard request.head.method != .get else { return apply(request) }
        let script = state.withLock { state in
            defer { state.script = Script() }
            return state.script
        }
        await script.beforeApplying?()
        var response: HTTPTransportResponse?
        if script.outcome == .accepted || script.outcome == .responseLost { response = apply(request) }
        await script.afterApplying?()
        switch script.outcome {
        case .accepted: return response ?? HTTPTransportResponse(status: 500)
        case .refused: return HTTPTransportResponse(status: 400, body: Data(#"{"error":"refused"}"#.utf8))
        case .requestLost, .responseLost: throw URLError(.networkConnectionLost)
        }
    }

    private func apply(_ request: HTTPTransportRequest) -> HTTPTransportResponse {
        let path = (request.head.url?.path ?? "").split(separator: "/").map(String.init)
        // A push lists the rows only to learn whether the table exists.
        if request.head.method == .get, path.count == 2 {
            return HTTPTransportResponse(status: 200, body: Data("[]".utf8))
        }
        var fields: [String: ItemValue] = [:]
        if case .object(let object)? = try? request.body.map({ try ItemValue(json: $0) }) { fields = object }
        let id = path.count > 2 ? path[2] : fields["id"]?.textValue ?? ""
        fields["id"] = nil
        return state.withLock { state in
            let row = state.rows[id]
            let condition = request.head.headerFields[.ifMatch]
            let isStale = condition != nil && condition != row.map { "\"\($0.revision)\"" }
            switch (request.head.method.rawValue, row) {
            case ("POST", nil):
                return response(201, id, put(Row(fields: fields), id, &state.rows))
            case ("POST", .some):
                return HTTPTransportResponse(status: 409, body: request.body ?? Data())
            case (_, nil):
                return missing
            case ("GET", let row?) where row.isDeleted:
                return missing
            case (_, let row?) where isStale:
                return response(412, id, row)
            case ("GET", let row?):
                return response(200, id, row)
            case ("PATCH", var row?):
                row.fields.merge(fields) { _, new in new }
                row.revision += 1
                return response(200, id, put(row, id, &state.rows))
            case (_, var row?):
                if row.isDeleted { return response(condition == nil ? 409 : 412, id, row) }
                row.isDeleted = deletesSoftly
                row.revision += 1
                state.rows[id] = deletesSoftly ? row : nil
                return response(200, id, row)
            }
        }
    }

    private var missing: HTTPTransportResponse {
        HTTPTransportResponse(status: 404, body: Data(#"{"error":"no such item"}"#.utf8))
    }

    private func put(_ row: Row, _ id: String, _ rows: inout [String: Row]) -> Row {
        rows[id] = row
        return row
    }

    private func response(_ status: HTTPResponse.Status, _ id: String, _ row: Row) -> HTTPTransportResponse {
        var object = row.fields
        object["id"] = .text(id)
        object["version"] = .text("\(row.revision)")
        object["deleted"] = .bool(row.isDeleted)
        object["updatedAt"] = .text("2024-01-01T00:00:0\(row.revision % 10).000Z")
        return HTTPTransportResponse(
            status: status, headerFields: [.eTag: "\"\(row.revision)\""], body: ItemValue.object(object).json)
    }
}
