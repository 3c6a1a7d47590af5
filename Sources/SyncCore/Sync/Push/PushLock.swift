// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension SyncContext {
    /// Whether other processes may have the store open.
    package var isStoreShared: Bool { store.dataSource.capabilities.isMultiProcess }

    /// Runs the body while it holds the push lock of a shared store, so that only one process pushes at a time.
    ///
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled while it waits;
    ///   ``SyncError/Code/pushAbortedStore`` when the store cannot be locked.
    func withPushLock<T>(_ body: () async throws -> T) async throws -> T {
        guard isStoreShared else { return try await body() }
        var delay = Duration.milliseconds(10)
        var acquired = try await tryLockPush()
        while acquired == nil {
            try await environment.sleep(delay)
            delay = min(delay * 2, .seconds(1))
            acquired = try await tryLockPush()
        }
        holdsPushLock.withLock { $0 = true }
        defer {
            holdsPushLock.withLock { $0 = false }
            acquired?.release()
        }
        return try await body()
    }

    /// Acquires the push lock to discard operations; `nil` when it is not needed.
    ///
    /// - Throws: ``SyncError/Code/purgeRefused`` while another process pushes.
    func lockForDiscarding() async throws -> (any StorePushLock)? {
        // The context knows the operations that it is sending itself.
        guard isStoreShared, !holdsPushLock.withLock({ $0 }) else { return nil }
        guard let lock = try await tryLockPush() else {
            throw SyncError(
                .purgeRefused, "Another process is sending operations. Purge again when it has finished.",
                mayRetry: true)
        }
        return lock
    }

    /// Acquires the sync lock of a shared store without waiting; `nil` when another process holds it.
    ///
    /// - Throws: ``SyncError/Code/pushAbortedStore`` when the store cannot be locked.
    package func tryLockSync() async throws -> (any StorePushLock)? {
        try await tryLock { try $0.tryLockSync() }
    }

    private func tryLockPush() async throws -> (any StorePushLock)? {
        try await tryLock { try $0.tryLockPush() }
    }

    private func tryLock(
        _ acquire: @escaping @Sendable (any SyncContextDataSource) throws -> (any StorePushLock)?
    ) async throws -> (any StorePushLock)? {
        let dataSource = store.dataSource
        do {
            return try await withCheckedThrowingContinuation { continuation in
                environment.executor.read { continuation.resume(with: Result { try acquire(dataSource) }) }
            }
        } catch let error as StoreError where error.code == .closed {
            throw SyncError.contextClosed(cause: error)
        } catch {
            throw PushEnding.lockFailed(error)
        }
    }
}
