// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

@testable import TableServer

/// Runs the body with a server and a client. The server has the table `TodoItem` with soft delete and `Other` with hard
/// delete, and its rows are in the storage of ``StorageKind/current`` if the configuration names no other one.
func withServer(
    _ adjust: (inout TableServer.Configuration) -> Void = { _ in },
    _ body: (TableServer, TestClient) async throws -> Void
) async throws {
    var configuration = TableServer.Configuration(
        tables: [.init("TodoItem", softDelete: true), .init("Other", softDelete: false)],
        clock: .standing(at: .noon))
    adjust(&configuration)
    if configuration.storage == .memory { configuration.storage = try StorageKind.current.storage() }
    try await withTableServer(configuration) { server in
        try await body(server, TestClient(server))
    }
}

extension Timestamp {
    /// 2024-05-30T12:00:00Z.
    static let noon = Timestamp(Date(timeIntervalSince1970: 1_717_070_400))
}

extension ServerClock {
    /// A clock that only a test moves, and that the server takes for a running one.
    static func running(at instant: Timestamp) -> ServerClock {
        ServerClock(isStanding: false) { instant.showing(fractionDigits: 9) }
    }
}
