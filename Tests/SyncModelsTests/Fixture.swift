// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncModels
import TableServer
import TestSupport
import Testing

/// The stores on which tests run.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, lmdb

    var testDescription: String { rawValue }

    func open(in directory: URL, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        let path = directory.appendingPathComponent("store").path
        return switch self {
        case .memory: try MemoryStore(tables: tables)
        case .sqlite: try SQLiteStore(path: path + ".sqlite", tables: tables)
        case .lmdb: try LMDBStore(path: path + ".lmdb", tables: tables)
        }
    }
}

/// Runs the body with a context that has no server.
func withContext(
    on kind: StoreKind = .memory, _ tables: [SyncTableDefinition], settings: SyncSettings = SyncSettings(),
    _ body: (SyncContext) async throws -> Void
) async throws {
    let url = try #require(URL(string: "http://127.0.0.1:9"))
    try await withTemporaryDirectory { directory in
        let store = try kind.open(in: directory, tables: tables)
        let context = SyncContext(client: SyncClient(url: url), dataSource: store, settings: settings)
        try await body(context)
        try await context.close()
    }
}

/// Runs the body with a server that has these tables, and a context of it with a memory store.
func withServer(
    _ tables: [SyncTableDefinition], settings: SyncSettings = SyncSettings(),
    _ body: (SyncContext, TableServer) async throws -> Void
) async throws {
    try await withTableServer(.init(tables: tables.map { .init($0.name) })) { server in
        let context = SyncContext(
            client: SyncClient(url: server.url, transport: .patient),
            dataSource: try MemoryStore(tables: tables), settings: settings)
        try await body(context, server)
        try await context.close()
    }
}

/// Returns the message of the error that the body throws, or `nil`.
func message<T>(_ body: () async throws -> T) async -> String? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? SyncError)?.message ?? "\(error)"
    }
}

/// Puts the row `x` on the server and pulls it, then changes it there and pulls again.
///
/// - Returns: the model as it was pulled first, a stale copy.
func staleCopy<Model: SyncModel>(
    of row: [String: ItemValue], changed change: [String: ItemValue], in table: ModelTable<Model>,
    _ server: TableServer
) async throws -> Model {
    try await server.put("x", row, in: Model.schema.definition.name)
    try await table.pull()
    let copy = try #require(try await table.get("x"))
    try await server.update("x", change, in: Model.schema.definition.name)
    try await table.pull()
    return copy
}
