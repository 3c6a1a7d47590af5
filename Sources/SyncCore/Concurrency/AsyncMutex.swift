// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A mutex that may be held across suspensions; waiters acquire it in the order in which they called.
package final class AsyncMutex: Sendable {
    private struct State {
        var isLocked = false
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastWaiterID = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs the body while it holds the mutex.
    ///
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled while it waits.
    package func withLock<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await acquire()
        defer { release() }
        return try await body()
    }

    /// Waits until the callers before this one have released the mutex, also in a task that is cancelled.
    package func waitForEarlierCallers() async {
        if (try? await wait(nextWaiterID(), isCancellable: false)) != nil { release() }
    }

    private func nextWaiterID() -> Int {
        state.withLock { state in
            state.lastWaiterID += 1
            return state.lastWaiterID
        }
    }

    private func wait(_ id: Int, isCancellable: Bool) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Void, any Error>? = state.withLock { state in
                // An earlier cancellation is seen here; a later one finds the waiter in the queue.
                if isCancellable, Task.isCancelled { return .failure(CancellationError()) }
                guard state.isLocked else {
                    state.isLocked = true
                    return .success(())
                }
                state.waiters.append((id, continuation))
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    private func acquire() async throws {
        let id = nextWaiterID()
        try await withTaskCancellationHandler {
            try await wait(id, isCancellable: true)
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Resumes the first waiter, which then holds the mutex.
    private func release() {
        let next = state.withLock { state in
            if state.waiters.isEmpty {
                state.isLocked = false
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume()
    }
}
