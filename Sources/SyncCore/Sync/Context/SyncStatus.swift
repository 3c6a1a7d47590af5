// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The state of a sync context: its pending operations, running pushes and pulls, and the last result.
public struct SyncStatus: Sendable {
    /// The number of pending operations.
    public internal(set) var pendingOperations: Int
    /// The number of parked operations, which the server has refused too often.
    public internal(set) var parkedOperations: Int
    /// The number of operations in conflict with the server's row, which wait for a decision.
    public internal(set) var conflictingOperations: Int
    /// The number of operations that wait for other pending operations, whose table the app no longer declares, or whose item
    /// is missing in the app's database.
    public internal(set) var heldOperations: Int
    /// Whether a push is running.
    public internal(set) var isPushing: Bool
    /// Whether a pull is running.
    public internal(set) var isPulling: Bool
    /// When the last push or pull succeeded, by the client's clock.
    public internal(set) var lastSuccess: Timestamp?
    /// Why the last push or pull failed; `nil` after a push or pull that succeeded.
    public internal(set) var lastError: SyncError?

    /// Makes a status, for previews and tests of a user interface.
    public init(
        pendingOperations: Int = 0, parkedOperations: Int = 0, conflictingOperations: Int = 0,
        heldOperations: Int = 0, isPushing: Bool = false, isPulling: Bool = false,
        lastSuccess: Timestamp? = nil, lastError: SyncError? = nil
    ) {
        self.pendingOperations = pendingOperations
        self.parkedOperations = parkedOperations
        self.conflictingOperations = conflictingOperations
        self.heldOperations = heldOperations
        self.isPushing = isPushing
        self.isPulling = isPulling
        self.lastSuccess = lastSuccess
        self.lastError = lastError
    }
}

extension SyncContext {
    /// Returns the current status.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func status() async throws -> SyncStatus {
        var status = activity.status
        let catalog = catalog
        let (count, waiting) = try await read { snapshot in
            (
                try snapshot.operationCount(in: nil),
                try snapshot.waitingOperations(in: nil, of: catalog)
            )
        }
        status.pendingOperations = count
        status.parkedOperations = waiting.count { $0.reason == .parked }
        status.conflictingOperations = waiting.count { $0.reason == .inConflict }
        status.heldOperations = waiting.count { [.held, .undeclared, .missingItem].contains($0.reason) }
        return status
    }

    /// Returns a sequence of the current status and of later ones. If the status changes several times while the reader is
    /// busy, the reader receives the newest. The sequence ends when the context closes.
    public func observeStatus() -> ObservedStatus {
        ObservedStatus(context: self)
    }
}

/// The sequence of statuses of a context: see ``SyncContext/observeStatus()``.
public struct ObservedStatus: AsyncSequence, Sendable {
    let context: SyncContext

    /// Makes an iterator whose first element is the current status.
    public func makeAsyncIterator() -> Iterator {
        Iterator(context: context, signals: context.commits.signals(of: [.status]).makeAsyncIterator())
    }

    /// Waits for commits of operations and errors, and for the start and end of pushes and pulls.
    public struct Iterator: AsyncIteratorProtocol {
        private let context: SyncContext
        private var signals: AsyncStream<Void>.Iterator
        /// Whether the last read has thrown an error. The next one does not wait.
        private var hasFailed = false

        init(context: SyncContext, signals: AsyncStream<Void>.Iterator) {
            self.context = context
            self.signals = signals
        }

        /// Returns the next status; `nil` after the context has closed.
        public mutating func next() async throws -> SyncStatus? {
            if hasFailed, Task.isCancelled { return nil }
            if !hasFailed { guard await context.next(&signals) != nil else { return nil } }
            let context = context
            hasFailed = true
            let status = try await context.resultUnlessClosed { try await context.status() }
            hasFailed = false
            return status
        }
    }
}

/// The running pushes and pulls, and the last result.
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
        commits.send(.operations)
    }

    /// Records the end of a push or pull: success, an error, or `nil` for a cancellation.
    func end(_ kind: Kind, _ outcome: Result<Timestamp, SyncError>?) {
        state.withLock { state in
            state.running[kind, default: 0] -= 1
            switch outcome {
            case .success(let time): (state.lastSuccess, state.lastError) = (time, nil)
            case .failure(let error): state.lastError = error
            case nil: break
            }
        }
        commits.send(.operations)
    }
}
