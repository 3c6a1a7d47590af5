// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which rows were stored by a push, or by another pull, while a pull's page was on its way.
///
/// Such a page may show them as they were before; it must not take them back in time.
final class StalePageGuard: Sendable {
    /// One pull, or all pushes together.
    typealias Source = Int
    static let pushes: Source = 0

    private struct Note {
        let count: Int
        let updatedAt: Timestamp?
    }

    private struct State {
        var pulls: Set<Source> = []
        var lastPull = StalePageGuard.pushes
        var count = 0
        var notes: [Source: [ItemIdentity: Note]] = [:]
    }

    private let state = Mutex(State())

    /// Begins to take note, for one pull.
    func beginPull() -> Source {
        state.withLock { state in
            state.lastPull += 1
            state.pulls.insert(state.lastPull)
            return state.lastPull
        }
    }

    /// Ends what ``beginPull()`` began. What this pull has stored still counts for the others.
    func endPull(_ pull: Source) {
        state.withLock { state in
            state.pulls.remove(pull)
            if state.pulls.isEmpty { state.notes = [:] }
        }
    }

    /// Notes that a row is about to be committed; `nil` when it is gone.
    func note(_ row: Item?, id: String, in table: String, from source: Source) {
        state.withLock { state in
            state.count += 1
            guard state.pulls.contains(where: { $0 != source }) else { return }
            let note = Note(count: state.count, updatedAt: row?.system.updatedAt)
            state.notes[source, default: [:]][ItemIdentity(table: table, id: id)] = note
        }
    }

    /// How many have been noted so far: a page's request takes it along.
    var count: Int { state.withLock { $0.count } }

    /// Whether a state of the row that is not older was stored after that count, by anybody but this pull.
    func isStale(_ row: Item, in table: String, since count: Int, for pull: Source) -> Bool {
        state.withLock { state in
            guard !state.notes.isEmpty else { return false }
            let key = ItemIdentity(table: table, id: row.id)
            return state.notes.contains { source, notes in
                guard source != pull, let note = notes[key], note.count > count else { return false }
                guard let stored = note.updatedAt, let updatedAt = row.system.updatedAt else { return true }
                return !stored.isEarlier(than: updatedAt)
            }
        }
    }
}
