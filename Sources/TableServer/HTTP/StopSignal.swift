// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs registered actions when the server stops.
final class StopSignal: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isStopped = false
        var lastToken = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Runs the action when the server stops, or immediately if it has stopped. Returns a token for ``remove(_:)``.
    func onStop(_ action: @escaping @Sendable () -> Void) -> Int {
        let (token, isStopped) = state.withLock { state in
            state.lastToken += 1
            if !state.isStopped { state.actions[state.lastToken] = action }
            return (state.lastToken, state.isStopped)
        }
        if isStopped { action() }
        return token
    }

    func remove(_ token: Int) {
        state.withLock { _ = $0.actions.removeValue(forKey: token) }
    }

    func stop() {
        let actions = state.withLock { state in
            state.isStopped = true
            defer { state.actions = [:] }
            return state.actions.values
        }
        for action in actions { action() }
    }
}
