// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Keeps a page from replacing rows that a push or another pull has stored since the page was requested.
///
/// Such a page may show the rows as they were before. Only rows stored while another pull runs are recorded.
final class StalePageGuard: Sendable {
    /// What stores rows: one pull, or all pushes together.
    typealias Source = Int
    static let pushes: Source = 0

    private struct StoredRow {
        let number: Int
        let updatedAt: Timestamp?
    }

    private struct State {
        var pulls: Set<Source> = []
        var lastPull = StalePageGuard.pushes
        var storedRowCount = 0
        var storedRows: [Source: [ItemIdentity: StoredRow]] = [:]
        /// The tables of which the pull may have left out rows that it must receive again.
        var incompleteTables: [Source: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// Starts recording for a pull.
    func beginPull() -> Source {
        state.withLock { state in
            state.lastPull += 1
            state.pulls.insert(state.lastPull)
            return state.lastPull
        }
    }

    /// Ends a pull. The rows that it has stored still count for the other pulls.
    func endPull(_ pull: Source) {
        state.withLock { state in
            state.pulls.remove(pull)
            state.incompleteTables[pull] = nil
            if state.pulls.isEmpty { state.storedRows = [:] }
        }
    }

    /// Records that a row is about to be committed; `nil` when the item was removed.
    func recordStored(_ row: Item?, id: String, in table: String, from source: Source) {
        state.withLock { state in
            state.storedRowCount += 1
            guard state.pulls.contains(where: { $0 != source }) else { return }
            let stored = StoredRow(number: state.storedRowCount, updatedAt: row?.system.updatedAt)
            state.storedRows[source, default: [:]][ItemIdentity(table: table, id: id)] = stored
        }
    }

    /// Records that a purge has removed the items and the delta tokens of the table.
    ///
    /// A running pull may leave out rows that were stored before the purge, so it must not store a token past them.
    func recordPurge(of table: String) {
        state.withLock { state in
            for pull in state.pulls { state.incompleteTables[pull, default: []].insert(table) }
        }
    }

    /// Whether the pull may have left out rows of the table, and must not store a token past them: the table was purged, or
    /// a row was removed that another client may have inserted again.
    func isIncomplete(_ table: String, during pull: Source) -> Bool {
        state.withLock { $0.incompleteTables[pull]?.contains(table) ?? false }
    }

    /// How many rows were stored so far. A page stores this count when it is requested.
    var storedRowCount: Int { state.withLock { $0.storedRowCount } }

    /// Whether a push or another pull has stored this state of the row or a later one since that count, or has removed it.
    func isStale(_ row: Item, in table: String, since count: Int, for pull: Source) -> Bool {
        state.withLock { state in
            guard !state.storedRows.isEmpty else { return false }
            let identity = ItemIdentity(table: table, id: row.id)
            var isStale = false
            for (source, rows) in state.storedRows where source != pull {
                guard let stored = rows[identity], stored.number > count else { continue }
                if let storedAt = stored.updatedAt, let updatedAt = row.system.updatedAt {
                    isStale = isStale || !storedAt.isEarlier(than: updatedAt)
                } else {
                    isStale = true
                    state.incompleteTables[pull, default: []].insert(table)
                }
            }
            return isStale
        }
    }
}
