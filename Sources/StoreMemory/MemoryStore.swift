// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore
import Synchronization

/// A store that keeps everything in memory and discards it on close: for tests, previews and caches.
///
/// It is the shortest implementation of the store contract and the reference that other stores are compared with. A
/// transaction works on a copy-on-write copy of the state; a commit replaces the state with the copy, and a snapshot
/// retains one.
public final class MemoryStore: SyncContextDataSource {
    /// The tables the store was made with.
    public let catalog: TableCatalog
    /// Concurrent readers; not durable, one process, ids of any length.
    public let capabilities = StoreCapabilities(
        isDurable: false, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: true,
        maxIDLength: .max)

    private let writeLock = NSLock()
    /// The state that new readers see; `nil` after close.
    private let committed = Mutex<MemoryState?>(nil)
    private let runningReads = DispatchGroup()

    /// Creates an empty store.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``.
    public init(tables: [SyncTableDefinition]) throws(SyncError) {
        catalog = try TableCatalog(tables)
        committed.withLock { $0 = MemoryState(catalog) }
    }

    /// Runs the body on the last committed state.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        let state = try state(entering: runningReads)
        defer { runningReads.leave() }
        return try body(MemoryTransaction(state: state, catalog: catalog))
    }

    /// Runs the body on a copy of the state, and commits the copy when the body returns.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try writeLock.withLock {
            let transaction = MemoryTransaction(state: try state(), catalog: catalog)
            let result = try body(transaction)
            committed.withLock { $0 = transaction.state }
            return result
        }
    }

    /// Returns a lock that is always free: the store belongs to this process.
    public func tryLockPush() throws -> (any StorePushLock)? { try unsharedLock() }

    /// Returns a lock that is always free: the store belongs to this process.
    public func tryLockSync() throws -> (any StorePushLock)? { try unsharedLock() }

    private func unsharedLock() throws -> UnsharedPushLock {
        _ = try state()
        return UnsharedPushLock()
    }

    /// Waits for running reads and writes, then discards the state.
    public func close() {
        writeLock.withLock { committed.withLock { $0 = nil } }
        runningReads.wait()
    }

    /// Returns the last committed state.
    ///
    /// - Parameter group: is entered unless the store is closed.
    private func state(entering group: DispatchGroup? = nil) throws(StoreError) -> MemoryState {
        let state = committed.withLock { state in
            if state != nil { group?.enter() }
            return state
        }
        guard let state else { throw StoreError(.closed, "The store is closed.") }
        return state
    }
}
