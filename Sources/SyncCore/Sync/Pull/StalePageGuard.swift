// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Keeps a page from replacing rows that a push or another pull has stored since the page was requested.
///
/// Such a page may show the rows as they were before. Only rows stored while another pull of their table runs are recorded.
final class StalePageGuard: Sendable {
    /// What stores rows: one pull, or all pushes together.
    typealias Source = Int
    static let pushes: Source = 0

    /// How a row of a page relates to the states that were stored since the page was requested.
    enum Age {
        /// Nothing was stored, or an earlier state.
        case current
        /// The same state was stored, or a later one.
        case stale
        /// Which state is later is unknown: they share an `updatedAt`, one has none, the item was removed, or it is
        /// unknown whether the other state was stored.
        case unknown
    }

    private struct StoredRow {
        let number: Int
        /// The state of the row; `nil` if the item was removed, or it is unknown whether the row was stored.
        var system: SystemProperties?
    }

    private struct State {
        /// The tables of the running pulls.
        var pulls: [Source: String] = [:]
        var lastPull = StalePageGuard.pushes
        var storedRowCount = 0
        var storedRows: [Source: [ItemIdentity: StoredRow]] = [:]
        /// What was recorded in the current transaction, with the records replaced by it.
        var uncommitted: [(source: Source, identity: ItemIdentity, replaced: StoredRow?)] = []
    }

    private let state = Mutex(State())

    /// Starts recording for a pull.
    func beginPull(of table: String) -> Source {
        state.withLock { state in
            state.lastPull += 1
            state.pulls[state.lastPull] = table
            return state.lastPull
        }
    }

    /// Ends a pull. The rows that it has stored still count for the other pulls.
    func endPull(_ pull: Source) {
        state.withLock { state in
            state.pulls[pull] = nil
            if state.pulls.isEmpty { state.storedRows = [:] }
        }
    }

    /// The last pull; `nil` while a pull runs. If it is the same later, no pull has begun in between.
    var lastPullIfIdle: Source? { state.withLock { $0.pulls.isEmpty ? $0.lastPull : nil } }

    /// Records that a row is about to be committed; `nil` when the item was removed, or only an error shows the row.
    func recordStored(_ row: Item?, id: String, in table: String, from source: Source) {
        state.withLock { state in
            state.storedRowCount += 1
            guard state.pulls.contains(where: { $0.key != source && $0.value == table }) else { return }
            var system = row?.system
            system?.undeclared = [:]
            let stored = StoredRow(number: state.storedRowCount, system: system)
            let identity = ItemIdentity(table: table, id: id)
            let replaced = state.storedRows[source, default: [:]].updateValue(stored, forKey: identity)
            state.uncommitted.append((source, identity, replaced))
        }
    }

    /// Prepares for the records of a transaction.
    func beginTransaction() { state.withLock { $0.uncommitted = [] } }

    /// Removes the records of the transaction, which has failed.
    func rollBack() {
        state.withLock { state in
            for record in state.uncommitted.reversed() {
                state.storedRows[record.source]?[record.identity] = record.replaced
            }
            state.uncommitted = []
        }
    }

    /// Records that the transaction may or may not have been committed.
    func recordUnknownOutcome() {
        state.withLock { state in
            for record in state.uncommitted {
                state.storedRows[record.source]?[record.identity]?.system = nil
            }
            state.uncommitted = []
        }
    }

    /// How many rows were stored so far. A page stores this count when it is requested.
    var storedRowCount: Int { state.withLock { $0.storedRowCount } }

    /// Compares a row of a page with what pushes and other pulls have stored since that count.
    func age(of row: Item, in table: String, since count: Int, for pull: Source) -> Age {
        state.withLock { state in
            guard !state.storedRows.isEmpty else { return .current }
            let identity = ItemIdentity(table: table, id: row.id)
            var age = Age.current
            for (source, rows) in state.storedRows where source != pull {
                guard let stored = rows[identity], stored.number > count else { continue }
                switch Self.age(of: row, beside: stored.system) {
                case .current: continue
                case .stale: return .stale
                case .unknown: age = .unknown
                }
            }
            return age
        }
    }

    private static func age(of row: Item, beside stored: SystemProperties?) -> Age {
        guard let stored else { return .unknown }
        let other = Item(id: row.id, system: stored)
        if row.isLater(than: other) { return .current }
        // If only one has an `updatedAt`, the version may be that of a former row with this id. The fields, which could tell,
        // are not recorded.
        let haveSameTimes = (row.system.updatedAt == nil) == (stored.updatedAt == nil)
        let isSame = haveSameTimes && row.system.version != nil && row.isSameState(as: other)
        return isSame || other.isLater(than: row) ? .stale : .unknown
    }
}
