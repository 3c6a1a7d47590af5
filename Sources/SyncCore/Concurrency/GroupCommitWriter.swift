// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Calls the data source from asynchronous code, outside the cooperative thread pool, and groups commits.
///
/// Group commit: all writes that wait while a transaction is committed run together in the next one, so that many small
/// durable writes share one flush to the disk. If one of them throws, each runs again in a separate transaction, so that
/// a refused write does not roll back the others. If the outcome of the commit is unknown, none runs again.
final class GroupCommitWriter: Sendable {
    let dataSource: any SyncContextDataSource
    private let executor: any StoreExecutor
    private let waiting = Mutex<[any WaitingWrite]>([])
    private let commits: CommitFeed
    private let stalePageGuard: StalePageGuard
    private let externalCommitStamp = Mutex<Int64?>(nil)

    init(
        dataSource: any SyncContextDataSource, executor: any StoreExecutor, commits: CommitFeed,
        stalePageGuard: StalePageGuard
    ) {
        self.dataSource = dataSource
        self.executor = executor
        self.commits = commits
        self.stalePageGuard = stalePageGuard
    }

    /// Runs the body on a snapshot and returns its result.
    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            executor.read { [dataSource] in
                continuation.resume(with: Result { try dataSource.read(body) })
            }
        }
    }

    /// Adds a body to the next transaction. It runs also when no caller waits for the result.
    ///
    /// The body may run more than once; only its last run is committed.
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

    /// Runs the body in a transaction, as ``begin(_:)`` does, and returns its result when its changes are durable.
    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) async throws -> T
    {
        try await begin(body).value
    }

    /// Returns when the observers have received the signals of all writes that have returned.
    func didSignalCommits() async {
        await withCheckedContinuation { continuation in executor.write { continuation.resume() } }
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

    /// The changes of a transaction, as observers have to know them.
    private struct Signal {
        let changes: ChangeSet
        /// Identifies the last commit of another process that the transaction has seen; `nil` in a store of one process.
        var externalCommitStamp: Int64?
    }

    /// Returns the changes; unknown ones if another process has committed since the last signal, because the observers'
    /// results are older than this transaction.
    private func signal(of changes: ChangeSet, in transaction: any StoreTransaction) throws -> Signal {
        guard dataSource.capabilities.isMultiProcess else { return Signal(changes: changes) }
        let stamp = try transaction.externalCommitStamp()
        let isCurrent = externalCommitStamp.withLock { $0 == stamp }
        return Signal(changes: isCurrent ? changes : .unknown, externalCommitStamp: stamp)
    }

    /// Runs the writes in one transaction.
    ///
    /// - Returns: whether every write is finished.
    private func commit(_ batch: [any WaitingWrite]) -> Bool {
        let signal: Signal
        stalePageGuard.beginTransaction()
        do {
            signal = try dataSource.write { transaction in
                // An observer that begins after this reads what this transaction has committed, or is told that anything
                // may have changed.
                guard let observedTables = commits.observedTables else {
                    for write in batch { try write.run(transaction) }
                    return Signal(changes: .unknown)
                }
                let recording = RecordingTransaction(transaction, observedTables: observedTables)
                for write in batch { try write.run(recording) }
                return try self.signal(of: recording.changes, in: transaction)
            }
        } catch let error as StoreError where error.code == .outcomeUnknown {
            // The transaction may be committed: running the writes again could apply them twice.
            stalePageGuard.recordUnknownOutcome()
            for write in batch {
                write.fail(with: error)
                write.finish()
            }
            commits.send(.unknown)
            return true
        } catch {
            stalePageGuard.rollBack()
            batch.last?.fail(with: error)
            return false
        }
        for write in batch { write.finish() }
        // The store may have run the body again after a rollback: only now it is known what was committed.
        if let stamp = signal.externalCommitStamp { externalCommitStamp.withLock { $0 = stamp } }
        commits.send(signal.changes)
        return true
    }
}

/// A write of any result type, as the writing thread uses it.
private protocol WaitingWrite: Sendable {
    func run(_ transaction: any StoreTransaction) throws
    /// Stores the error of the transaction as the result of this write.
    func fail(with error: any Error)
    /// Returns the result to the waiting caller. Finishing again does nothing.
    func finish()
}

/// A write that was added to the next transaction.
final class PendingWrite<T: Sendable>: WaitingWrite {
    private struct State {
        /// The result of the last run. The write may run again until it is finished.
        var result: Result<T, any Error>?
        var isFinished = false
        var continuation: CheckedContinuation<T, any Error>?
    }

    private let body: @Sendable (any StoreTransaction) throws -> T
    private let state = Mutex(State())

    fileprivate init(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) {
        self.body = body
    }

    /// What the body returned, when its changes are durable. Only one caller may wait for it.
    var value: T {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                update { state in
                    precondition(state.continuation == nil, "A caller already waits for this write.")
                    state.continuation = continuation
                }
            }
        }
    }

    fileprivate func run(_ transaction: any StoreTransaction) throws {
        let value = try body(transaction)
        state.withLock { $0.result = .success(value) }
    }

    fileprivate func fail(with error: any Error) { state.withLock { $0.result = .failure(error) } }

    fileprivate func finish() { update { $0.isFinished = true } }

    /// Changes the state, then resumes the waiting caller when the write is finished.
    private func update(_ change: (inout State) -> Void) {
        let (continuation, result) = state.withLock { state in
            change(&state)
            guard state.isFinished, let result = state.result else {
                return (CheckedContinuation<T, any Error>?.none, Result<T, any Error>?.none)
            }
            defer { state.continuation = nil }
            return (state.continuation, result)
        }
        if let result { continuation?.resume(with: result) }
    }
}
