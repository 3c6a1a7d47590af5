// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore
import Synchronization

/// Observes all commits to the store's tables in the app's database.
///
/// The commits of the store's own transactions are included: the app's triggers, foreign keys and default values may change
/// more than the store has written. GRDB calls an observer on the writer connection, one transaction after the other.
final class AppCommits: TransactionObserver, Sendable {
    private struct State {
        var handlers: [@Sendable (_ isOwn: Bool) -> Void] = []
        var hasChanges = false
        /// Whether the store runs the current transaction.
        var isOwn = false
    }

    private let tables: Set<String>
    private let state = Mutex(State())

    init(tables: [String]) {
        self.tables = Set(tables.map { $0.lowercased() } + ["ms_tableoperations", "ms_tableoperationerrors"])
    }

    /// Adds a handler, which receives whether the store has made the commit.
    func add(_ handler: @escaping @Sendable (_ isOwn: Bool) -> Void) {
        state.withLock { $0.handlers.append(handler) }
    }

    /// Runs the body in a transaction of the store, on the writer connection.
    func write<T>(on database: Database, _ body: (Database) throws -> T) throws -> T {
        state.withLock { $0.isOwn = true }
        // GRDB does not report each rollback, and the next transaction may be the app's.
        defer { state.withLock { $0.isOwn = false } }
        return try database.committing(body)
    }

    /// GRDB asks before each statement. SQLite reports no changes of a table without row ids, so that the statement itself
    /// counts as a change.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        let concerns = tables.contains(eventKind.tableName.lowercased())
        if concerns { databaseDidChange() }
        return concerns
    }

    func databaseDidChange() { state.withLock { $0.hasChanges = true } }

    func databaseDidChange(with event: DatabaseEvent) { databaseDidChange() }

    func databaseDidCommit(_ database: Database) {
        let (handlers, isOwn) = state.withLock { state in
            // Observers of the app can begin another transaction before the store's access ends.
            defer { (state.hasChanges, state.isOwn) = (false, false) }
            return (state.hasChanges ? state.handlers : [], state.isOwn)
        }
        for handler in handlers { handler(isOwn) }
    }

    func databaseDidRollback(_ database: Database) {
        state.withLock { ($0.hasChanges, $0.isOwn) = (false, false) }
    }
}
