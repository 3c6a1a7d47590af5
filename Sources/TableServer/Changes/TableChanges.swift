// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes the change feeds of a server when a table may have changed.
package final class TableChanges: Sendable {
    private struct State {
        var isClosed = false
        var lastNumber = 0
        var listeners: [Int: Listener] = [:]
        /// Looks for the changes of other processes, as long as there are listeners.
        var watch: Task<Void, Never>?
        /// The times of the last changes at the last look; `nil` before the first.
        var lastChanges: [String: String]?
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
    /// - Parameter storage: is looked at for the changes of other processes; `nil` if there are none.
    /// - Returns: the number of the listener, and its wakes. Several of them become one while the feed is busy.
    func listen(
        to tableKeys: Set<String>, in storage: (any RowStorage)? = nil
    ) -> (number: Int, wakes: AsyncStream<Void>) {
        let (wakes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isClosed) = state.withLock { state in
            state.lastNumber += 1
            if !state.isClosed {
                state.listeners[state.lastNumber] = Listener(tableKeys: tableKeys, wakes: continuation)
                if let storage, state.watch == nil { state.watch = Task { await watch(storage) } }
            }
            return (state.lastNumber, state.isClosed)
        }
        if isClosed { continuation.finish() }
        return (number, wakes)
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return }
            state.watch?.cancel()
            (state.watch, state.lastChanges) = (nil, nil)
        }
    }

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
            state.watch?.cancel()
            state.watch = nil
            defer { state.listeners = [:] }
            return state.listeners.values
        }
        for listener in listeners { listener.wakes.finish() }
    }
}

/// The changes of other processes, which a storage does not report.
extension TableChanges {
    /// How often the storage is looked at: once for all listeners.
    private static let interval = Duration.seconds(1)

    private func watch(_ storage: any RowStorage) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            // The feeds find out why the rows cannot be read, and end.
            await update(try? storage.lastChanges())
        }
    }

    /// Reports the tables that have changed since the last update; at the first one, and without times, all tables.
    func update(_ lastChanges: [String: String]?) {
        let keys = state.withLock { state in
            let former = exchange(&state.lastChanges, with: lastChanges)
            return state.listeners.values.reduce(into: Set<String>()) { keys, listener in
                keys.formUnion(
                    listener.tableKeys.filter { key in
                        guard let former, let lastChanges else { return true }
                        return former[key] != lastChanges[key]
                    })
            }
        }
        for key in keys { signal(key) }
    }
}
