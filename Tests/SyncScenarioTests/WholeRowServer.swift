// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TableServer

/// The test server as one whose updates replace the whole row: a PUT sets every column that it does not name to null.
///
/// It understands no date literals of that dialect, so pulls go without a query ID.
struct WholeRowServer: HTTPTransport {
    let server: TableServer
    private let base = URLSessionTransport()

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        var request = request
        if let version = HTTPField.Name("ZUMO-API-VERSION") { request.head.headerFields[version] = "2.0.0" }
        if request.head.method == .put {
            request.head.method = .patch
            guard case .object(var fields) = try ItemValue(json: request.body ?? Data()) else {
                return HTTPTransportResponse(status: .badRequest)
            }
            let row = try server.row(request.head.url?.lastPathComponent ?? "", in: Todo.name)
            for name in row?.fields.keys ?? [:].keys where fields[name] == nil { fields[name] = .null }
            request.body = ItemValue.object(fields).json
        }
        return try await base.send(request)
    }
}

extension Scenario {
    /// A device that speaks the dialect whose updates replace the whole row.
    func wholeRowDevice(
        _ name: String = "A", tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        let store = try kind.open(in: directory, name: name, tables: tables)
        return wholeRowDevice(on: store)
    }

    /// Such a device on a store that is open.
    func wholeRowDevice(on store: any SyncContextDataSource) -> Device {
        let client = SyncClient(
            url: server.url, transport: WholeRowServer(server: server), dialect: .v3)
        let context = SyncContext(
            client: client, dataSource: store, environment: .instant(seed: 5))
        return Device(context: context, store: store)
    }
}
