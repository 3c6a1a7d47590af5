// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Observes all commits to the store's tables in the app's database.
///
/// The commits of the store's own transactions are included: the app's triggers, foreign keys and default values may change
/// more than the store has written. GRDB calls an observer on the writer connection, one transaction after the other.
final class AppCommits: TransactionObserver, Sendable {
    private struct State {
        var handlers: [@Sendable () -> Void] = []
        var hasChanges = false
    }

    private let tables: Set<String>
    private let state = Mutex(State())

    init(tables: [String]) {
        self.tables = Set(tables.map { $0.lowercased() } + ["ms_tableoperations", "ms_tableoperationerrors"])
    }

    func add(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handlers.append(handler) } }

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
        let handlers = state.withLock { state in
            defer { state.hasChanges = false }
            return state.hasChanges ? state.handlers : []
        }
        for handler in handlers { handler() }
    }

    func databaseDidRollback(_ database: Database) { state.withLock { $0.hasChanges = false } }
}
