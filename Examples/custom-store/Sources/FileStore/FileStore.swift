// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
public import SyncCore

/// A store in one plain file, written from the guide "Write a store".
public struct FileStore: SyncContextDataSource {
    private let store: OrderedMapStore

    /// Opens the store in the file; creates the file if it does not exist.
    public init(path: String, tables: [SyncTableDefinition]) throws {
        // Throws for invalid tables before it creates the file.
        _ = try TableCatalog(tables)
        let map = try FileMap(path: path)
        do {
            store = try OrderedMapStore(
                map, tables: tables,
                capabilities: StoreCapabilities(
                    isDurable: true, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: false))
        } catch {
            map.close()
            throw error
        }
    }

    /// The tables the store was opened with.
    public var catalog: TableCatalog { store.catalog }

    /// Durable, concurrent readers, one process.
    public var capabilities: StoreCapabilities { store.capabilities }

    /// Runs the body on a snapshot.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try store.read(body) }

    /// Runs the body in a transaction.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try store.write(body) }

    /// Closes the file.
    public func close() throws { try store.close() }
}
