// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
public import SyncCore

/// A store in one LMDB file: ordered keys, values read where they lie, and reads that never wait for writes.
///
/// ```swift
/// let store = try LMDBStore(path: "todo.lmdb", tables: [TodoItem.definition])
/// ```
///
/// Beside the file there are two others, `PATH-lock` and `PATH.lock`, which hold nothing. All are made with mode 0600.
///
/// The file grows as it must. That needs a moment without reads when one write fills more than half of the file's
/// address space, so such a write waits for running reads; a read must not wait for a write.
public final class LMDBStore: SyncContextDataSource {
    private let store: OrderedMapStore

    /// How much address space the file is given at first, 64 MiB. It doubles when it is needed.
    public static let defaultMapSize = 64 << 20

    /// The size at which a store is full unless told otherwise: 64 GiB, or what the machine can address.
    public static let defaultMaximumSize = Int(clamping: Int64(64) << 30)

    /// Opens the store at that path, or makes it if there is no file or an empty one.
    ///
    /// - Parameters:
    ///   - path: where the file is; its directory must exist.
    ///   - tables: the tables to keep. New tables and columns may be added at any opening.
    ///   - mapSize: how much address space to begin with.
    ///   - maximumSize: how large the file may become, in bytes; only writes that mainly remove may go beyond it.
    ///   - maxReaders: how many reads may run at once.
    /// - Throws: ``SyncError/Code/invalidTableDefinition``; ``StoreError/Code/cannotOpen`` when the path leads to
    ///   something that is not a file; ``StoreError/Code/alreadyOpen``; ``StoreError/Code/corrupt`` when the file is
    ///   not such a store; ``StoreError/Code/newerFormat``; ``StoreError/Code/schemaMismatch``.
    public init(
        path: String, tables: [SyncTableDefinition], mapSize: Int = LMDBStore.defaultMapSize,
        maximumSize: Int = LMDBStore.defaultMaximumSize, maxReaders: Int = 512
    ) throws {
        let map = try LMDBMap(
            path: path, mapSize: mapSize, maximumSize: maximumSize, maxReaders: maxReaders)
        store = try OrderedMapStore(
            map, tables: tables,
            capabilities: StoreCapabilities(
                isDurable: true, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: true))
    }

    /// The tables the store was opened with.
    public var catalog: TableCatalog { store.catalog }

    /// Durable and indexed, with reads beside writes, for one process at a time.
    public var capabilities: StoreCapabilities { store.capabilities }

    /// Runs the body on a snapshot of the file.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try store.read(body) }

    /// Runs the body in a write transaction of LMDB.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try store.write(body) }

    /// Closes the file and gives its lock back.
    public func close() throws { try store.close() }
}
