// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Calls the data source from asynchronous code: off the cooperative threads, and with group commit.
///
/// All writes that wait while one is being committed are run together in the next transaction, so that many small
/// durable writes share one flush to the disk. If one of them throws, each is run again in a transaction of its
/// own: a refused write takes nothing of its neighbours with it.
final class StoreAccess: Sendable {
    let dataSource: any SyncContextDataSource
    private let executor: any StoreExecutor
    private let waiting = Mutex<[WaitingWrite]>([])
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

    /// Runs the body in a transaction; when this returns, its changes are durable.
    ///
    /// The body may run more than once, and only its last run counts.
    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) async throws -> T
    {
        try await withCheckedThrowingContinuation { continuation in
            let write = WaitingWrite(body) { continuation.resume(with: $0) }
            let isFirst = waiting.withLock { waiting in
                waiting.append(write)
                return waiting.count == 1
            }
            if isFirst { executor.write { self.commitWaiting() } }
        }
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
    private func commit(_ batch: [WaitingWrite]) -> Bool {
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

/// One write on its way through a group commit. Only the writing thread touches it after it was queued.
private struct WaitingWrite: Sendable {
    let run: @Sendable (any StoreTransaction) throws -> Void
    /// Keeps the error that the transaction failed with as this write's outcome.
    let note: @Sendable (any Error) -> Void
    /// Hands the outcome to whoever waits for it.
    let finish: @Sendable () -> Void

    init<T: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> T,
        deliver: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        let outcome = Outcome<T>()
        run = { transaction in outcome.set(.success(try body(transaction))) }
        note = { error in outcome.set(.failure(error)) }
        finish = { outcome.take(deliver) }
    }

    private final class Outcome<T: Sendable>: Sendable {
        private let result = Mutex<Result<T, any Error>?>(nil)

        func set(_ newResult: Result<T, any Error>) { result.withLock { $0 = newResult } }

        func take(_ deliver: (Result<T, any Error>) -> Void) {
            let taken = result.withLock { result in
                defer { result = nil }
                return result
            }
            if let taken { deliver(taken) }
        }
    }
}
