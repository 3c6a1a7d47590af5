// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreConformance
import StoreSQLite
import SyncCore

extension SpecialStores {
    /// Stores in an app's database, and files of a newer format.
    static let sqlite = SpecialStores(
        openSmall: { path, tables in
            // 8 MB, in pages of 4 KiB.
            try AppPoolStore(path: path, tables: tables, setting: "PRAGMA max_page_count = 2000")
        },
        openConstrained: { path, tables in
            try AppPoolStore(
                path: path, tables: tables,
                creation: "CREATE TABLE Thing(id TEXT PRIMARY KEY, label TEXT CHECK (label <> 'refused'))")
        },
        openWithApp: { path, tables in
            let store = try AppPoolStore(
                path: path, tables: tables, creation: "CREATE TABLE Thing(id TEXT PRIMARY KEY)")
            return (store: store, addItem: store.addItem)
        },
        makeNewer: { path in
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { database in
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                try database.execute(sql: "PRAGMA user_version = \(version + 1)")
            }
            try queue.close()
        })
}

/// A store in a new database of an app, which is closed with the store, because rules close only the store.
private struct AppPoolStore: SyncContextDataSource {
    private let store: SQLiteStore
    private let pool: DatabasePool

    /// - Parameters:
    ///   - setting: a statement for each connection.
    ///   - creation: the statement that creates the app's table.
    init(
        path: String, tables: [SyncTableDefinition], setting: String? = nil, creation: String? = nil
    ) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { if let setting { try $0.execute(sql: setting) } }
        pool = try DatabasePool(path: path, configuration: configuration)
        if let creation { try pool.write { try $0.execute(sql: creation) } }
        store = try SQLiteStore(database: pool, tables: tables)
    }

    /// Adds an item as the app does, without the store.
    func addItem(_ id: String) throws {
        try pool.write { try $0.execute(sql: "INSERT INTO Thing(id) VALUES (?)", arguments: [id]) }
    }

    var catalog: TableCatalog { store.catalog }

    var capabilities: StoreCapabilities { store.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try store.read(body) }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try store.write(body) }

    func onExternalCommit(_ handler: @escaping @Sendable () -> Void) { store.onExternalCommit(handler) }

    func close() throws {
        try store.close()
        try pool.close()
    }
}
