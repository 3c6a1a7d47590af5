// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
public import SyncCore

/// A store in a PostgreSQL database, written from the guide "Write a store".
public struct PostgresStore: SyncContextDataSource {
    private let map: PostgresMap
    private let store: OrderedMapStore

    /// Opens the store of that name; creates its tables if they do not exist.
    ///
    /// - Parameters:
    ///   - connection: the parameters of libpq, such as `host=/var/run/postgresql dbname=app`.
    ///   - name: up to 50 letters, digits and underscores.
    public init(connection: String, name: String, tables: [SyncTableDefinition]) throws {
        // Throws for invalid tables before it connects.
        _ = try TableCatalog(tables)
        map = try PostgresMap(parameters: connection, table: try PostgresTable(name))
        do {
            store = try OrderedMapStore(
                map, tables: tables,
                capabilities: StoreCapabilities(
                    isDurable: true, hasConcurrentReaders: true, isMultiProcess: true, usesIndexes: true))
        } catch {
            map.close()
            throw error
        }
    }

    /// Removes the store of that name with its contents. It must not be open.
    public static func remove(connection: String, name: String) throws {
        let table = try PostgresTable(name)
        let connection = try PostgresConnection(connection)
        defer { connection.close() }
        try connection.run(table.removal)
    }

    /// The tables the store was opened with.
    public var catalog: TableCatalog { store.catalog }

    /// Durable, concurrent readers, several processes, indexes.
    public var capabilities: StoreCapabilities { store.capabilities }

    /// Runs the body on a snapshot.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try store.read(body) }

    /// Runs the body in a transaction.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try store.write(body) }

    /// Acquires the push lock, if no other opening holds it.
    public func tryLockPush() throws -> (any StorePushLock)? { try map.tryLockPush() }

    /// Acquires the sync lock, if no other opening holds it.
    public func tryLockSync() throws -> (any StorePushLock)? { try map.tryLockSync() }

    /// Closes the connections.
    public func close() throws { try store.close() }
}
