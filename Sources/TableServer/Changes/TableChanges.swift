// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Wakes the change feeds of a server when a table may have changed.
package final class TableChanges: Sendable {
    fileprivate struct State {
        var isClosed = false
        var lastNumber = 0
        var listeners: [Int: Listener] = [:]
        /// Looks for the changes of other processes, as long as there are listeners.
        var watch: Task<Void, Never>?
        /// The times of the last changes at the last look; `nil` before the first.
        var lastChanges: [String: String]?
        /// The queries of marks by table and owner. Each has begun after the last report of its rows.
        var marks: [String: [UTF8Text?: Task<String, any Error>]] = [:]
    }

    fileprivate struct Listener {
        /// The owners of the rows that the feed shows, by table.
        let owners: [String: UTF8Text?]
        let wakes: AsyncStream<Void>.Continuation
        /// The tables that may have changed since the feed has looked.
        var changed: Set<String> = []
    }

    private let state = Mutex(State())
    let feeds = FeedLimit()

    package init() {}

    /// Starts to listen to the changes of rows. After ``close()`` the stream is at its end.
    ///
    /// - Parameter storage: is looked at for the changes of other processes; `nil` if there are none.
    /// - Returns: the number of the listener, and its wakes. Several of them become one while the feed is busy.
    func listen(
        to scopes: [RowScope], in storage: (any RowStorage)? = nil
    ) -> (number: Int, wakes: AsyncStream<Void>) {
        let owners = Dictionary(scopes.map { ($0.table.key, $0.ownerText) }) { first, _ in first }
        let (wakes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isClosed) = state.withLock { state in
            state.lastNumber += 1
            if !state.isClosed {
                state.listeners[state.lastNumber] = Listener(owners: owners, wakes: continuation)
                if let storage, state.watch == nil { state.watch = Task { await watch(storage) } }
            }
            return (state.lastNumber, state.isClosed)
        }
        if isClosed { continuation.finish() }
        return (number, wakes)
    }

    /// Ends the stream of the listener. Calling it again has no effect.
    func remove(_ number: Int) {
        state.withLock { state in
            state.listeners.removeValue(forKey: number)?.wakes.finish()
            guard state.listeners.isEmpty else { return }
            state.watch?.cancel()
            (state.watch, state.lastChanges, state.marks) = (nil, nil, [:])
        }
    }

    /// Returns the keys of the listener's tables that may have changed since the last call.
    func takeChanges(_ number: Int) -> Set<String> {
        state.withLock { state in
            let changed = state.listeners[number]?.changed ?? []
            state.listeners[number]?.changed = []
            return changed
        }
    }

    /// Returns the mark of the rows in the scope after their last reported change, or a later one. The calls between
    /// two reports share one query.
    func mark(of scope: RowScope, in storage: any RowStorage) async throws -> String {
        let owner = scope.ownerText
        let query = state.withLock { state in
            if let query = state.marks[scope.table.key]?[owner] { return query }
            let query = Task { try await storage.mark(of: scope) }
            state.marks[scope.table.key, default: [:]][owner] = query
            return query
        }
        do {
            return try await query.value
        } catch {
            // The next call asks again.
            state.withLock { state in
                guard state.marks[scope.table.key]?[owner] == query else { return }
                state.marks[scope.table.key]?[owner] = nil
            }
            throw error
        }
    }

    /// Wakes the listener although no table has changed.
    func wake(_ number: Int) { state.withLock { _ = $0.listeners[number]?.wakes.yield() } }

    /// Reports a commit that may have changed rows of the scope.
    package func signal(_ scope: RowScope) {
        state.withLock { state in
            // A query that has begun before the commit may not see it.
            state.marks[scope.table.key]?[scope.ownerText] = nil
            state.wake(scope.table.key) { $0 == scope.ownerText }
        }
    }

    /// Reports a commit that may have changed rows of any owner.
    private func signal(_ tableKey: String) {
        state.withLock { state in
            state.marks[tableKey] = nil
            state.wake(tableKey) { _ in true }
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
                    listener.owners.keys.filter { key in
                        guard let former, let lastChanges else { return true }
                        return former[key] != lastChanges[key]
                    })
            }
        }
        for key in keys { signal(key) }
    }
}

extension TableChanges.State {
    /// Wakes the listeners to rows of the table whose owner meets the condition.
    fileprivate mutating func wake(_ tableKey: String, where isAffected: (UTF8Text?) -> Bool) {
        for (number, listener) in listeners {
            guard let owner = listener.owners[tableKey], isAffected(owner) else { continue }
            listeners[number]?.changed.insert(tableKey)
            listener.wakes.yield()
        }
    }
}

extension RowScope {
    /// The owner, compared byte for byte.
    fileprivate var ownerText: UTF8Text? { owner.map { UTF8Text($0) } }
}

extension RowStorage {
    /// Returns the mark of the rows in the scope, which differs after each change of them.
    func mark(of scope: RowScope) async throws -> String {
        try await read(scope) { rows in try rows.changeMark() ?? "empty" }
    }
}
