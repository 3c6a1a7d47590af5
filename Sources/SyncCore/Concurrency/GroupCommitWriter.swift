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
    private let waiting = Mutex<[WaitingWrite]>([])
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
            waiting.append(write.waiting)
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
    private func commit(_ batch: [WaitingWrite]) -> Bool {
        let signal: Signal
        stalePageGuard.beginTransaction()
        do {
            signal = try dataSource.write { transaction in
                // The store may have rolled back an earlier run of this body.
                stalePageGuard.rollBack()
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
