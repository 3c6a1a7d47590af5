// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore
import Synchronization

/// Observes all commits to the store's tables in the app's database.
///
/// The commits of the store's own transactions are included: the app's triggers, foreign keys and default values may change
/// more than the store has written.
///
/// GRDB calls observers on the writer connection, in the order in which they were added. An observer of the app can run
/// another transaction as soon as it receives a commit, and that transaction may end before this observer receives the first
/// commit.
final class AppCommits: TransactionObserver, Sendable {
    private struct State {
        var handlers: [@Sendable (_ isOwn: Bool) -> Void] = []
        /// Whether the current transaction has changed the tables.
        var hasChanges = false
        /// Whether a transaction of the app that has changed the tables is about to be committed, or is committed and not
        /// reported. Stays true when the commit fails: the report of the next commit is then superfluous, but none is lost.
        var hasAppCommit = false

        /// Returns whether the current transaction has changed the tables, and resets it for the next one.
        mutating func endTransaction() -> Bool {
            defer { hasChanges = false }
            return hasChanges
        }
    }

    private let tables: Set<SQLName>
    private let state = Mutex(State())

    init(tables: [String]) {
        let observed = tables + ["MS_TableOperations", "MS_TableOperationErrors"]
        self.tables = Set(observed.map { SQLName($0) })
    }

    /// Adds a handler, which receives whether the store has made the commit.
    func add(_ handler: @escaping @Sendable (_ isOwn: Bool) -> Void) {
        state.withLock { $0.handlers.append(handler) }
    }

    /// Runs the body in a transaction of the store, on the writer connection, and reports its commit.
    func write<T>(on database: Database, _ body: (Database) throws -> T) throws -> T {
        var hasChanges = false
        let result = try database.committing { database in
            // The store changes nothing after the body. The next change is the app's.
            defer { hasChanges = state.withLock { $0.endTransaction() } }
            return try body(database)
        }
        if hasChanges { report(isOwn: true) }
        return result
    }

    /// GRDB asks before each statement. SQLite reports no changes of a table without row ids, so that the statement itself
    /// counts as a change.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        let concerns = tables.contains(SQLName(eventKind.tableName))
        if concerns { databaseDidChange() }
        return concerns
    }

    func databaseDidChange() { state.withLock { $0.hasChanges = true } }

    func databaseDidChange(with event: DatabaseEvent) { databaseDidChange() }

    func databaseWillCommit() {
        state.withLock { if $0.endTransaction() { $0.hasAppCommit = true } }
    }

    func databaseDidCommit(_ database: Database) {
        let isReported = state.withLock { state in
            defer { state.hasAppCommit = false }
            return state.hasAppCommit
        }
        if isReported { report(isOwn: false) }
    }

    func databaseDidRollback(_ database: Database) { state.withLock { $0.hasChanges = false } }

    private func report(isOwn: Bool) {
        for handler in state.withLock({ $0.handlers }) { handler(isOwn) }
    }
}
