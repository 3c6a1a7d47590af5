// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Decides which commits an observer of a query reads.
final class QueryObserver: Sendable {
    private struct State {
        /// The last result; `nil` before the first one.
        var window: ResultWindow?
        /// The changes that the last begun read may not have seen; `nil` if there are none.
        var unread: TableChange?
        var isReading = false
    }

    private let query: TableQuery
    private let state = Mutex(State())

    init(_ query: TableQuery) { self.query = query }

    /// Records the changes of a commit. Returns whether the observer must be signalled.
    func counts(_ changes: ChangeSet) -> Bool {
        guard let change = changes.change(of: query.table) else { return false }
        return state.withLock { state in
            // During a read it is unknown which rows the next result has, so the decision is made after it.
            let isDecidable = !state.isReading && state.unread == nil
            if isDecidable, let window = state.window, !window.isAffected(by: change) { return false }
            if state.unread == nil { state.unread = change } else { state.unread?.add(change) }
            return true
        }
    }

    /// Begins a read that sees all commits that were signalled before. Returns `nil` if none changes the result.
    ///
    /// - Returns: the changes since the last read began; ``TableChange/everything`` for the first read.
    func beginRead() -> TableChange? {
        state.withLock { state in
            let change = state.window == nil ? .everything : state.unread
            state.unread = nil
            guard let change, state.window?.isAffected(by: change) ?? true else { return nil }
            state.isReading = true
            return change
        }
    }

    /// Ends a read. Returns whether the result differs from the previous one.
    func endRead(_ result: QueryResult) -> Bool {
        state.withLock { state in
            state.isReading = false
            let isSame = state.window?.isSame(result) ?? false
            state.window = ResultWindow(query, result)
            return !isSame
        }
    }
}
