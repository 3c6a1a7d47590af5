// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore

/// The stores of every workload.
enum StoreKind: String, CaseIterable, Sendable {
    case sqlite = "SQLite"
    case lmdb = "LMDB"
    case memory = "memory"

    var floorName: String { "floor \(rawValue)" }

    func open(at path: String, tables: [SyncTableDefinition] = [TodoRow.definition]) throws
        -> any SyncContextDataSource
    {
        switch self {
        case .sqlite: try SQLiteStore(path: path, tables: tables)
        case .lmdb: try LMDBStore(path: path, tables: tables, mapSize: 1 << 30)
        case .memory: try MemoryStore(tables: tables)
        }
    }

    /// Creates a context with a new store in the run's directory.
    func context(_ trial: Trial, transport: any HTTPTransport = NoTransport()) throws -> BenchContext {
        let store = try open(at: trial.path("store"))
        return BenchContext(context: SyncContext(store, transport: transport), dataSource: store)
    }
}

/// A transport for contexts that send no request.
struct NoTransport: HTTPTransport {
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        throw WrongResult("A context without a server sent a request.")
    }
}

extension SyncContextDataSource {
    /// Returns a checksum of the number of items, the sum of a column, and the number of operations.
    func checksum() throws -> Int {
        try read { snapshot in
            let items = try snapshot.items(matching: TableQuery(TodoRow.table).select("priority")).items
            let sum = items.reduce(0) { $0 &+ 1_000_003 &+ Int($1["priority"]?.intValue ?? 0) }
            return try sum &+ 7919 &* snapshot.operationCount(in: nil)
        }
    }
}
