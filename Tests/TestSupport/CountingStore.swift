// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore
import Synchronization

/// A store that counts the write transactions of another store.
package final class CountingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let counts = Mutex((writes: 0, commits: 0))
    private let beforeCommit = Mutex<(@Sendable () throws -> Void)?>(nil)

    package init(_ base: any SyncContextDataSource) { self.base = base }

    /// Number of write transactions that began.
    package var writes: Int { counts.withLock { $0.writes } }
    /// Number of write transactions that were committed.
    package var commits: Int { counts.withLock { $0.commits } }

    package var catalog: TableCatalog { base.catalog }
    package var capabilities: StoreCapabilities { base.capabilities }

    /// Runs the body in each later write transaction, before its commit; an error that it throws rolls back.
    package func setBeforeCommit(_ body: @escaping @Sendable () throws -> Void) {
        beforeCommit.withLock { $0 = body }
    }

    package func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }

    package func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        counts.withLock { $0.writes += 1 }
        let beforeCommit = beforeCommit.withLock { $0 }
        let result = try base.write { transaction in
            let result = try body(transaction)
            try beforeCommit?()
            return result
        }
        counts.withLock { $0.commits += 1 }
        return result
    }

    package func close() throws { try base.close() }
}
