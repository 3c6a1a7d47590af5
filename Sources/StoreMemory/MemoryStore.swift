// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore
import Synchronization

/// A store that keeps everything in memory and forgets it when it closes: for tests, previews and caches.
///
/// It is the shortest statement of the store contract, and the one that other stores are compared with. A
/// transaction works on a copy of the whole state, which shares all that it does not change; committing is
/// putting the copy in place, and a snapshot is keeping one.
public final class MemoryStore: SyncContextDataSource {
    /// The tables the store was made with.
    public let catalog: TableCatalog
    /// Readers beside the writer, and nothing that outlives the process.
    public let capabilities = StoreCapabilities(
        isDurable: false, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: false,
        maxIDLength: .max)

    private let writing = NSLock()
    /// What new readers see; `nil` when the store is closed.
    private let committed = Mutex<MemoryState?>(MemoryState())

    /// Makes an empty store.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``.
    public init(tables: [SyncTableDefinition]) throws(SyncError) {
        catalog = try TableCatalog(tables)
    }

    /// Runs the body on the state of this moment.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try body(MemoryTransaction(state: state(), catalog: catalog))
    }

    /// Runs the body on a copy of the state, and puts it in place when the body returns.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try writing.withLock {
            let transaction = MemoryTransaction(state: try state(), catalog: catalog)
            let result = try body(transaction)
            committed.withLock { $0 = transaction.state }
            return result
        }
    }

    /// Waits for a running write, then forgets everything.
    public func close() {
        writing.withLock { committed.withLock { $0 = nil } }
    }

    private func state() throws(StoreError) -> MemoryState {
        guard let state = committed.withLock({ $0 }) else {
            throw StoreError(.closed, "The store is closed.")
        }
        return state
    }
}
