// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The tables with rows that have to be pulled again: a decision or a push has left the store without the newest state of a row
/// that the server may have.
///
/// The server may never change such a row again, so that no hint leads to its pull. An automatic sync pulls the tables.
final class TablesToPull: Sendable {
    private let names = Mutex<Set<String>>([])

    /// Inserts a table, inside the transaction that removes its delta tokens. A rollback leaves it here: one pull more is made.
    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }

    /// Returns the tables, once.
    func take() -> Set<String> {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}

extension StoreTransaction {
    /// Records that a row of the table has to be pulled again: removes the delta tokens as a purge does, so that the next pull
    /// shows the row.
    func recordRowToPull(in table: String, _ tables: TablesToPull?) throws {
        try recordPurge(of: table)
        tables?.insert(table)
    }
}

extension SyncContext {
    /// Returns the tables with rows that have to be pulled again, once.
    package func takeTablesToPull() async -> Set<String> {
        let tables = tablesToPull.take()
        // The transactions that have inserted them may still run, and a pull has to begin after them.
        if !tables.isEmpty { await store.didSignalCommits() }
        return tables
    }
}
