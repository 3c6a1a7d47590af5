// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Observes the app's own commits to the store's tables in its database.
///
/// GRDB calls an observer on the writer connection, one transaction after the other.
final class AppCommits: TransactionObserver, Sendable {
    private struct State {
        var handlers: [@Sendable () -> Void] = []
        var isOwnWrite = false
        var hasChanges = false
    }

    private let tables: Set<String>
    private let state = Mutex(State())

    init(tables: [String]) {
        self.tables = Set(tables.map { $0.lowercased() } + ["ms_tableoperations", "ms_tableoperationerrors"])
    }

    func add(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handlers.append(handler) } }

    /// Runs the body of one of the store's own transactions without reporting its commit.
    func ignoring<T>(_ body: () throws -> T) rethrows -> T {
        state.withLock { $0.isOwnWrite = true }
        defer { state.withLock { $0.isOwnWrite = false } }
        return try body()
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        tables.contains(eventKind.tableName.lowercased()) && !state.withLock { $0.isOwnWrite }
    }

    func databaseDidChange(with event: DatabaseEvent) { state.withLock { $0.hasChanges = true } }

    func databaseDidCommit(_ database: Database) {
        let handlers = state.withLock { state in
            defer { state.hasChanges = false }
            return state.hasChanges ? state.handlers : []
        }
        for handler in handlers { handler() }
    }

    func databaseDidRollback(_ database: Database) { state.withLock { $0.hasChanges = false } }
}
