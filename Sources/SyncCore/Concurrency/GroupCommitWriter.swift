// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Calls the data source from asynchronous code: off the cooperative threads, and with group commit.
///
/// All writes that wait while one is being committed are run together in the next transaction, so that many small
/// durable writes share one flush to the disk. If one of them throws, each is run again in a transaction of its
/// own: a refused write takes nothing of its neighbours with it.
final class GroupCommitWriter: Sendable {
    let dataSource: any SyncContextDataSource
    private let executor: any StoreExecutor
    private let waiting = Mutex<[any WaitingWrite]>([])
    private let commits: CommitFeed

    init(dataSource: any SyncContextDataSource, executor: any StoreExecutor, commits: CommitFeed) {
        self.dataSource = dataSource
        self.executor = executor
        self.commits = commits
    }

    /// How many writes wait for a transaction.
    var waitingCount: Int { waiting.withLock { $0.count } }

    /// Runs the body on a snapshot.
    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            executor.read { [dataSource] in
                continuation.resume(with: Result { try dataSource.read(body) })
            }
        }
    }

    /// Hands over a body to be run in a transaction, with others that wait; it will run whether or not somebody waits
    /// for the outcome. It may run more than once, and only its last run counts.
    func begin<T: Sendable>(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) -> PendingWrite<T>
    {
        let write = PendingWrite(body)
        let isFirst = waiting.withLock { waiting in
            waiting.append(write)
            return waiting.count == 1
        }
        if isFirst { executor.write { self.commitWaiting() } }
        return write
    }

    /// Runs the body in a transaction; when this returns, its changes are durable: see ``begin(_:)``.
    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) async throws -> T
    {
        try await begin(body).value
    }

    private func commitWaiting() {
        let batch = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        if batch.count == 1 || !commit(batch) {
            for write in batch where !commit([write]) { write.finish() }
        }
    }

    /// Runs the writes in one transaction and tells whether it was committed.
    private func commit(_ batch: [any WaitingWrite]) -> Bool {
        do {
            try dataSource.write { transaction in
                for write in batch { try write.run(transaction) }
            }
        } catch {
            batch.last?.note(error)
            return false
        }
        for write in batch { write.finish() }
        commits.send()
        return true
    }
}

/// One write on its way through a group commit, as the writing thread sees it.
private protocol WaitingWrite: Sendable {
    func run(_ transaction: any StoreTransaction) throws
    /// Keeps the error that the transaction failed with as this write's outcome.
    func note(_ error: any Error)
    /// Hands the outcome to whoever waits for it. Finishing again does nothing.
    func finish()
}

/// A write that was handed over to the store.
final class PendingWrite<T: Sendable>: WaitingWrite {
    private struct State {
        /// Of the last run; it may run again until it is finished.
        var outcome: Result<T, any Error>?
        var isFinished = false
        var continuation: CheckedContinuation<T, any Error>?
    }

    private let body: @Sendable (any StoreTransaction) throws -> T
    private let state = Mutex(State())

    fileprivate init(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) {
        self.body = body
    }

    /// What the body returned, once its changes are durable. One caller may wait for it.
    var value: T {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                deliver { state in
                    precondition(state.continuation == nil, "Somebody waits for this write already.")
                    state.continuation = continuation
                }
            }
        }
    }

    fileprivate func run(_ transaction: any StoreTransaction) throws {
        let value = try body(transaction)
        state.withLock { $0.outcome = .success(value) }
    }

    fileprivate func note(_ error: any Error) { state.withLock { $0.outcome = .failure(error) } }

    fileprivate func finish() { deliver { $0.isFinished = true } }

    /// Makes a change, then hands the outcome over, once both it and somebody who waits are there.
    private func deliver(after change: (inout State) -> Void) {
        let (continuation, outcome) = state.withLock { state in
            change(&state)
            guard state.isFinished, let outcome = state.outcome else {
                return (CheckedContinuation<T, any Error>?.none, Result<T, any Error>?.none)
            }
            defer { state.continuation = nil }
            return (state.continuation, outcome)
        }
        if let outcome { continuation?.resume(with: outcome) }
    }
}
