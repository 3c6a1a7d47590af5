// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes the change feeds of a server when a table may have changed.
package final class TableChanges: Sendable {
    private struct State {
        var isClosed = false
        var lastNumber = 0
        var listeners: [Int: Listener] = [:]
    }

    private struct Listener {
        let tableKeys: Set<String>
        let wakes: AsyncStream<Void>.Continuation
        /// Whether a table may have changed since the feed has looked.
        var hasChanged = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Starts to listen to the changes of tables. After ``close()`` the stream is at its end.
    ///
    /// - Returns: the number of the listener, and its wakes. Several of them become one while the feed is busy.
    func listen(to tableKeys: Set<String>) -> (number: Int, wakes: AsyncStream<Void>) {
        let (wakes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isClosed) = state.withLock { state in
            state.lastNumber += 1
            if !state.isClosed {
                state.listeners[state.lastNumber] = Listener(tableKeys: tableKeys, wakes: continuation)
            }
            return (state.lastNumber, state.isClosed)
        }
        if isClosed { continuation.finish() }
        return (number, wakes)
    }

    func remove(_ number: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }

    /// Whether a table of the listener may have changed since the last call.
    func takeChange(_ number: Int) -> Bool {
        state.withLock { state in
            let hasChanged = state.listeners[number]?.hasChanged ?? false
            state.listeners[number]?.hasChanged = false
            return hasChanged
        }
    }

    /// Wakes the listener although no table has changed.
    func wake(_ number: Int) { state.withLock { _ = $0.listeners[number]?.wakes.yield() } }

    /// Reports a commit that may have changed the table.
    package func signal(_ tableKey: String) {
        state.withLock { state in
            for (number, listener) in state.listeners where listener.tableKeys.contains(tableKey) {
                state.listeners[number]?.hasChanged = true
                listener.wakes.yield()
            }
        }
    }

    /// Ends all feeds, also later ones.
    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners = [:] }
            return state.listeners.values
        }
        for listener in listeners { listener.wakes.finish() }
    }
}
