// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

@testable import TableServer

/// The tables service without connections. A test replaces its responses with hostile ones.
final class HostileServer: HTTPTransport {
    /// A hostile response.
    struct Response {
        var status = 200
        var headers: HTTPFields = [:]
        var body = Data()
        /// Whether the server applies the request before it sends this response.
        var appliesRequest = false

        init(_ status: Int = 200, headers: HTTPFields = [:], _ body: String = "", applies: Bool = false) {
            self.status = status
            self.headers = headers
            self.body = Data(body.utf8)
            appliesRequest = applies
        }
    }

    typealias Script = @Sendable (HTTPTransportRequest) -> Response?

    static let url = URL(string: "https://hostile.example/api") ?? URL(filePath: "/")

    private let service: TableService
    private let state = Mutex((script: Script?.none, requests: [HTTPTransportRequest]()))

    init() throws {
        let configuration = TableServer.Configuration(tables: [.init(Thing.name)])
        service = TableService(
            settings: configuration,
            storage: try SQLiteRowStorage(
                path: nil, tables: configuration.tables, settings: RowStampSettings(configuration)))
    }

    /// Responds to each request for which the script returns a response; `nil` ends the hostility.
    func respond(_ script: Script?) { state.withLock { $0.script = script } }

    /// Responds to all writes with this response.
    func respondToWrites(_ response: Response) {
        respond { $0.head.method == .get ? nil : response }
    }

    /// Responds to the next page request with this body, and to later ones with an empty page.
    func respondOnce(_ response: Response) {
        let isFirst = Mutex(true)
        respond { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? response : Response(200, "[]")
            }
        }
    }

    /// The requests, oldest first.
    var requests: [HTTPTransportRequest] { state.withLock { $0.requests } }

    func removeRequests() { state.withLock { $0.requests = [] } }

    /// A row of the server.
    struct Row {
        let fields: [String: ItemValue]
        let version: String
        /// The number of writes that were applied to the row.
        let writeCount: Int64
    }

    /// All rows that are not deleted, by id.
    func rows() -> [UTF8Text: Row] {
        let scope = RowScope(table: TableServer.Table(Thing.name))
        let rows = (try? service.storage.readNow(scope) { rows in try rows.allRows() }) ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.filter { !$0.deleted }.map { row in
                let value = Row(fields: row.fields, version: row.version, writeCount: row.revision)
                return (UTF8Text(row.id), value)
            })
    }

    /// The row with that id, if it is not deleted.
    func row(_ id: String) -> Row? { rows()[UTF8Text(id)] }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let (script, number) = state.withLock { state in
            state.requests.append(request)
            return (state.script, state.requests.count)
        }
        guard let response = script?(request) else { return await apply(request, number) }
        if response.appliesRequest { _ = await apply(request, number) }
        return HTTPTransportResponse(
            status: .init(code: response.status), headerFields: response.headers, body: response.body)
    }

    /// Applies a request as the tables service does.
    private func apply(_ request: HTTPTransportRequest, _ number: Int) async -> HTTPTransportResponse {
        let path = (request.head.path ?? "").dropFirst(Self.url.path.count)
        let headers = request.head.headerFields.map {
            RecordedRequest.Header(name: $0.name.rawName, value: $0.value)
        }
        let body = request.body ?? Data()
        let response = await service.respond(
            to: RecordedRequest(
                id: number, method: request.head.method.rawValue, uri: String(path), headers: headers,
                body: body, bodySize: body.count))
        var fields = HTTPFields()
        for header in response.headers {
            if let name = HTTPField.Name(header.name) { fields[name] = header.value }
        }
        return HTTPTransportResponse(
            status: .init(code: response.status), headerFields: fields, body: response.body)
    }
}
