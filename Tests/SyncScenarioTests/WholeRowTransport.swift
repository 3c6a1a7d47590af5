// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TableServer
import TestSupport

/// A transport that turns the test server into one whose updates replace the whole row.
///
/// A PUT sets every column that its body does not contain to null. The test server does not parse the date literals of
/// this dialect, so tests pull without a query ID.
struct WholeRowTransport: HTTPTransport {
    let server: TableServer
    private let base: URLSessionTransport = .patient

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
    /// Returns a device that uses the dialect whose updates replace the whole row.
    func wholeRowDevice(
        _ name: String = "A", tables: [SyncTableDefinition] = [Todo.definition]
    ) throws -> Device {
        let store = try kind.open(in: directory, name: name, tables: tables)
        return device(on: store, name: name, transport: WholeRowTransport(server: server), dialect: .v3)
    }
}
