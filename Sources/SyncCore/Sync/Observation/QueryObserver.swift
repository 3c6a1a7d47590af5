// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Decides which commits an observer of a query reads.
final class QueryObserver: Sendable {
    private struct State {
        /// The last result; `nil` before the first one.
        var window: ResultWindow?
        /// The changes during the last read, which it may not have seen; `nil` if there are none.
        var unread: TableChange?
        var isReading = false
        /// Whether to read: a commit has changed the result or operations, or the last read has failed.
        var mustRead = false
        var hasFailed = false
        /// Whether the reader has received every result, and waits for a commit.
        var isWaiting = false
        var isFinished = false
        /// Ended when the reader waits and no commit counts.
        var settling: [AsyncStream<Never>.Continuation] = []

        var isSettled: Bool {
            isFinished || hasFailed || isWaiting && !mustRead && unread == nil && window != nil
        }
    }

    private let query: TableQuery
    private let following: ObservedChanges
    private let state = Mutex(State())

    init(_ query: TableQuery, following: ObservedChanges) {
        (self.query, self.following) = (query, following)
    }

    deinit { for continuation in state.withLock({ $0.settling }) { continuation.finish() } }

    /// Records the changes of a commit. Returns whether the observer must be signalled.
    func counts(_ changes: ChangeSet) -> Bool {
        let touchesOperations = following.contains(.operations) && changes.touchesOperations
        let change = changes.change(of: query.table)
        guard touchesOperations || change != nil else { return false }
        return state.withLock { state in
            if touchesOperations { state.mustRead = true }
            guard let change, !state.mustRead else { return true }
            guard state.isReading else {
                state.mustRead = state.window?.isAffected(by: change) ?? true
                return state.mustRead
            }
            // It is unknown which rows the next result has, so the decision is made after the read.
            if state.unread == nil { state.unread = change } else { state.unread?.add(change) }
            return true
        }
    }

    /// Begins a read that sees all commits that were signalled before. Returns false if none changes the result.
    func beginRead() -> Bool {
        state.withLock { state in
            let unread = state.unread
            (state.unread, state.isWaiting) = (nil, false)
            let isAffected = state.window.map { window in unread.map(window.isAffected) ?? false } ?? true
            guard isAffected || state.mustRead else { return false }
            (state.isReading, state.mustRead) = (true, false)
            return true
        }
    }

    /// Returns the window of a result, and how the result differs from the previous one. A store may read more than once.
    func compare(_ result: QueryResult) -> (window: ResultWindow, difference: ResultDifference) {
        // Only the reader changes the window, so that it is compared without the lock.
        let difference = state.withLock { $0.window }?.difference(to: result) ?? .first
        let window = ResultWindow(
            query, result, followsSystemProperties: following.contains(.systemProperties))
        return (window, difference)
    }

    /// Ends a read that has succeeded.
    func endRead(_ window: ResultWindow) {
        state.withLock { ($0.isReading, $0.window, $0.hasFailed) = (false, window, false) }
    }

    /// Ends a read that has thrown an error. The next read does not wait for a commit.
    func failRead() {
        resume { ($0.isReading, $0.mustRead, $0.hasFailed) = (false, true, true) }
    }

    /// Whether the last read has thrown an error.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    // MARK: Settling

    /// Records that the reader waits for a commit.
    func beginWait() {
        resume { $0.isWaiting = true }
    }

    /// Records that the reader has ended.
    func finish() {
        resume { $0.isFinished = true }
    }

    /// Returns when the reader has received all commits that were signalled before or has ended, or a read has failed.
    func settle() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let isSettled = state.withLock { state in
            if !state.isSettled { state.settling.append(continuation) }
            return state.isSettled
        }
        if isSettled { return }
        for await _ in stream {}
    }

    private func resume(after change: (inout State) -> Void) {
        let settled = state.withLock { state -> [AsyncStream<Never>.Continuation] in
            change(&state)
            guard state.isSettled else { return [] }
            defer { state.settling = [] }
            return state.settling
        }
        for continuation in settled { continuation.finish() }
    }
}
