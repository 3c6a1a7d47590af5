// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import TableServer
import TableServerPostgreSQL
import TestSupport
import Testing

/// The stores of the devices of a scenario, and the storage of its server.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, lmdb
    #if os(Linux) || os(macOS)
        /// SQLite, and a server with PostgreSQL.
        case sqliteWithPostgreSQL
    #endif

    var testDescription: String { rawValue }

    func open(in directory: URL, name: String, tables: [SyncTableDefinition]) throws
        -> any SyncContextDataSource
    {
        let path = directory.appendingPathComponent(name).path
        return switch self {
        case .memory: try MemoryStore(tables: tables)
        case .lmdb: try LMDBStore(path: path + ".lmdb", tables: tables)
        default: try SQLiteStore(path: path + ".sqlite", tables: tables)
        }
    }

    /// Runs the body with a storage without rows for the server.
    func withStorage(_ body: (TableServer.Storage) async throws -> Void) async throws {
        #if os(Linux) || os(macOS)
            if self == .sqliteWithPostgreSQL {
                // Each server has some connections.
                await Self.postgreSQLLimit.begin()
                do {
                    let server = try PostgreSQLServer.shared.get()
                    try await body(.postgreSQL(server.connection(schema: server.newSchema())))
                } catch {
                    await Self.postgreSQLLimit.end()
                    throw error
                }
                return await Self.postgreSQLLimit.end()
            }
        #endif
        try await body(.memory)
    }

    private static let postgreSQLLimit = ConcurrencyLimit(8)

    /// A kind for each storage of the server.
    static var eachStorage: [StoreKind] {
        #if os(Linux) || os(macOS)
            [.memory, .sqliteWithPostgreSQL]
        #else
            [.memory]
        #endif
    }

    /// The kinds whose devices keep their rows in files.
    static var persistent: [StoreKind] { [.sqlite, .lmdb] }
}
