// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a sync context is doing, and how the last time ended.
public struct SyncStatus: Sendable {
    /// How many operations are pending.
    public internal(set) var pendingOperations = 0
    /// How many of them are parked, because the server has refused them too often.
    public internal(set) var parkedOperations = 0
    /// How many of them are in conflict with the server's row, and wait for a decision.
    public internal(set) var conflictingOperations = 0
    /// How many of them wait behind others that are blocked, or belong to a table that the app no longer declares.
    public internal(set) var heldOperations = 0
    /// Whether a push is running.
    public internal(set) var isPushing = false
    /// Whether a pull is running.
    public internal(set) var isPulling = false
    /// When the last push or pull ended well, by the client's clock.
    public internal(set) var lastSuccess: Timestamp?
    /// Why the last push or pull failed; `nil` once one has ended well.
    public internal(set) var lastError: SyncError?
}

extension SyncContext {
    /// What the context is doing now.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func status() async throws -> SyncStatus {
        var status = activity.status
        let (count, blocked) = try await read { snapshot in
            (try snapshot.operationCount(in: nil), try snapshot.blockedOperations(in: nil))
        }
        status.pendingOperations = count
        status.parkedOperations = blocked.count { $0.reason == .parked }
        status.conflictingOperations = blocked.count { $0.reason == .inConflict }
        status.heldOperations = blocked.count { $0.reason == .held || $0.reason == .undeclared }
        return status
    }

    /// The status now, and again whenever it may have changed; the newest alone when several changes came while the
    /// reader was busy. It ends when the context closes.
    public func observeStatus() -> ObservedStatus {
        ObservedStatus(context: self)
    }
}

/// The status of a context as it changes: see ``SyncContext/observeStatus()``.
public struct ObservedStatus: AsyncSequence, Sendable {
    let context: SyncContext

    /// Begins with the present status.
    public func makeAsyncIterator() -> Iterator {
        Iterator(context: context, signals: context.commits.signals().makeAsyncIterator())
    }

    /// Waits for commits, and for pushes and pulls to begin and end.
    public struct Iterator: AsyncIteratorProtocol {
        private let context: SyncContext
        private var signals: AsyncStream<Void>.Iterator

        init(context: SyncContext, signals: AsyncStream<Void>.Iterator) {
            self.context = context
            self.signals = signals
        }

        /// The next status; `nil` when the observation has ended.
        public mutating func next() async throws -> SyncStatus? {
            guard await signals.next(isolation: #isolation) != nil else { return nil }
            let context = context
            return try await context.resultUnlessClosed { try await context.status() }
        }
    }
}

/// Keeps count of running pushes and pulls.
final class SyncActivity: Sendable {
    enum Kind: Sendable { case push, pull }

    private struct State {
        var running: [Kind: Int] = [:]
        var lastSuccess: Timestamp?
        var lastError: SyncError?
    }

    private let state = Mutex(State())
    private let commits: CommitFeed

    init(commits: CommitFeed) {
        self.commits = commits
    }

    var status: SyncStatus {
        state.withLock { state in
            var status = SyncStatus()
            status.isPushing = state.running[.push, default: 0] > 0
            status.isPulling = state.running[.pull, default: 0] > 0
            status.lastSuccess = state.lastSuccess
            status.lastError = state.lastError
            return status
        }
    }

    func begin(_ kind: Kind) {
        state.withLock { $0.running[kind, default: 0] += 1 }
        commits.send()
    }

    /// Notes that a push or pull has ended: well, with an error of the framework, or, for `nil`, cancelled.
    func end(_ kind: Kind, _ outcome: Result<Timestamp, SyncError>?) {
        state.withLock { state in
            state.running[kind, default: 0] -= 1
            switch outcome {
            case .success(let time): (state.lastSuccess, state.lastError) = (time, nil)
            case .failure(let error): state.lastError = error
            case nil: break
            }
        }
        commits.send()
    }
}
