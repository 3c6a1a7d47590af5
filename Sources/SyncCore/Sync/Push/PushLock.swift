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
        while try await !acquirePushLock(shares: false) {
            try await environment.sleep(delay)
            delay = min(delay * 2, .seconds(1))
        }
        return try await releasingPushLock(after: body)
    }

    /// Runs the body, which may discard operations, while no other process pushes. The context knows the operations that it is
    /// sending itself.
    ///
    /// - Throws: what the body throws; ``SyncError/Code/purgeRefused`` while another process pushes.
    func withoutOtherPushes<T>(if discards: Bool, _ body: () async throws -> T) async throws -> T {
        guard isStoreShared, discards else { return try await body() }
        guard try await acquirePushLock(shares: true) else {
            throw SyncError(
                .purgeRefused, "Another process is sending operations. Purge again when it has finished.",
                mayRetry: true)
        }
        return try await releasingPushLock(after: body)
    }

    private func releasingPushLock<T>(after body: () async throws -> T) async throws -> T {
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        if let lock = pushLock.removeUser() { await release(lock) }
        return try result.get()
    }

    /// Releases a lock of the store outside the cooperative thread pool.
    package func release(_ lock: any StorePushLock) async {
        await withCheckedContinuation { continuation in
            environment.executor.write {
                lock.release()
                continuation.resume()
            }
        }
    }

    /// Acquires the sync lock of a shared store without waiting; `nil` when another process holds it.
    ///
    /// - Throws: ``SyncError/Code/pushAbortedStore`` when the store cannot be locked.
    package func tryLockSync() async throws -> (any StorePushLock)? {
        try await tryLock { try $0.tryLockSync() }
    }

    /// Acquires the push lock without waiting for its holder.
    ///
    /// - Parameter shares: whether it may be the one that this context holds.
    /// - Returns: `false` while another process holds it, or this context if it is not shared.
    private func acquirePushLock(shares: Bool) async throws -> Bool {
        try await pushLock.acquisitions.withLock {
            if shares, pushLock.share() { return true }
            guard let lock = try await tryLock({ try $0.tryLockPush() }) else { return false }
            pushLock.hold(lock)
            return true
        }
    }

    private func tryLock(
        _ acquire: @escaping @Sendable (any SyncContextDataSource) throws -> (any StorePushLock)?
    ) async throws -> (any StorePushLock)? {
        let dataSource = store.dataSource
        do {
            return try await withCheckedThrowingContinuation { continuation in
                // After the release of a lock, which is a write too.
                environment.executor.write { continuation.resume(with: Result { try acquire(dataSource) }) }
            }
        } catch let error as StoreError where error.code == .closed {
            throw SyncError.contextClosed(cause: error)
        } catch {
            throw PushEnding.lockFailed(error)
        }
    }
}

/// The push lock of a shared store while this context holds it: for a push, for calls that discard operations, or for both.
final class HeldPushLock: Sendable {
    private struct State {
        var lock: (any StorePushLock)?
        var users = 0
    }

    private let state = Mutex(State())
    /// Serializes acquisitions: a caller that would share the lock waits until it is stored here.
    let acquisitions = AsyncMutex()

    /// Keeps an acquired lock until its users have released it.
    func hold(_ lock: any StorePushLock) { state.withLock { $0 = State(lock: lock, users: 1) } }

    /// Adds a user.
    ///
    /// - Returns: `false` if the context does not hold the lock.
    func share() -> Bool {
        state.withLock { state in
            guard state.users > 0 else { return false }
            state.users += 1
            return true
        }
    }

    /// Removes a user.
    ///
    /// - Returns: the lock, for its release, if that was the last user.
    func removeUser() -> (any StorePushLock)? {
        state.withLock { state in
            state.users -= 1
            guard state.users == 0 else { return nil }
            defer { state.lock = nil }
            return state.lock
        }
    }
}
