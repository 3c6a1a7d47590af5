// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
public import SyncCore

/// A store in one LMDB file: ordered keys, zero-copy reads, and readers that never wait for writers.
///
/// ```swift
/// let store = try LMDBStore(path: "todo.lmdb", tables: [TodoItem.definition])
/// ```
///
/// LMDB and the store also create `PATH-lock` and `PATH.lock`, which contain no rows. All files have mode 0600.
///
/// Opening checks the structure of the file, because LMDB ends the process when it meets a damaged page. The check reads
/// all pages except long values. A file of more than 4 MiB is checked only when it is not as the store's last commit left
/// it, such as when another program has changed, copied or replaced it.
///
/// The file grows on demand. A write that overflows the map waits for running reads, so a read body must not wait for a
/// write.
public final class LMDBStore: SyncContextDataSource {
    private let map: LMDBMap
    private let store: OrderedMapStore

    /// The initial size of the memory map, 64 MiB. It doubles on demand.
    public static let defaultMapSize = 64 << 20

    /// The default maximum size of a store: 64 GiB, or the address space of the platform.
    public static let defaultMaximumSize = Int(clamping: Int64(64) << 30)

    /// Opens the store at the path; creates it when the file does not exist or is empty.
    ///
    /// - Parameters:
    ///   - path: the path of the file; its directory must exist.
    ///   - tables: the tables to store. New tables and columns may be added at any opening.
    ///   - mapSize: the initial size of the memory map, in bytes.
    ///   - maximumSize: the maximum size of the file, in bytes; only writes that mostly remove data may exceed it.
    ///   - maxReaders: the maximum number of concurrent reads; one more throws ``StoreError/Code/inputOutput``.
    /// - Throws: ``SyncError/Code/invalidTableDefinition``; ``StoreError/Code/cannotOpen`` when the path is not
    ///   a regular file; ``StoreError/Code/alreadyOpen``; ``StoreError/Code/corrupt`` when the file is
    ///   not an LMDB store; ``StoreError/Code/newerFormat``; ``StoreError/Code/schemaMismatch``;
    ///   ``StoreError/Code/full`` when the disk is full.
    public init(
        path: String, tables: [SyncTableDefinition], mapSize: Int = LMDBStore.defaultMapSize,
        maximumSize: Int = LMDBStore.defaultMaximumSize, maxReaders: Int = 512
    ) throws {
        // Before any file is created.
        _ = try TableCatalog(tables)
        map = try LMDBMap(
            path: path, mapSize: mapSize, maximumSize: maximumSize, maxReaders: maxReaders)
        store = try OrderedMapStore(
            map, tables: tables,
            capabilities: StoreCapabilities(
                isDurable: true, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: true))
    }

    /// The tables the store was opened with.
    public var catalog: TableCatalog { store.catalog }

    /// Durable, concurrent readers, indexes; one process at a time.
    public var capabilities: StoreCapabilities { store.capabilities }

    /// Runs the body on a snapshot of the file.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try store.read(body) }

    /// Runs the body in a write transaction of LMDB.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try store.write(body) }

    /// Returns a lock that is always free: one process has the file open.
    public func tryLockPush() throws -> (any StorePushLock)? { try unsharedLock() }

    /// Returns a lock that is always free: one process has the file open.
    public func tryLockSync() throws -> (any StorePushLock)? { try unsharedLock() }

    private func unsharedLock() throws -> UnsharedPushLock {
        try map.requireOpen()
        return UnsharedPushLock()
    }

    /// Closes the file and releases its lock.
    public func close() throws { try store.close() }
}
