// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which items a push has settled while a pull's page was on its way.
///
/// Such a page may show their rows as they were before; it must not take them back in time.
final class Acknowledgements: Sendable {
    private struct State {
        var pulls = 0
        var count = 0
        var last: [ItemKey: Int] = [:]
    }

    private let state = Mutex(State())

    /// Begins to take note, for one pull.
    func beginPull() { state.withLock { $0.pulls += 1 } }

    /// Ends what ``beginPull()`` began.
    func endPull() {
        state.withLock { state in
            state.pulls -= 1
            if state.pulls == 0 { state.last = [:] }
        }
    }

    /// Notes that a push is about to commit the server's row of that item.
    func note(table: String, id: String) {
        state.withLock { state in
            state.count += 1
            if state.pulls > 0 { state.last[ItemKey(table: table, id: id)] = state.count }
        }
    }

    /// How many have been noted so far: a page's request takes it along.
    var count: Int { state.withLock { $0.count } }

    /// Whether the item was settled after that count.
    func contains(table: String, id: String, since count: Int) -> Bool {
        state.withLock { ($0.last[ItemKey(table: table, id: id)] ?? 0) > count }
    }
}
