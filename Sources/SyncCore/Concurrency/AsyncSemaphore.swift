// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Limits the number of concurrent operations of a push.
///
/// An operation releases its permit when its response has arrived, before the result is stored. The next operation is
/// then marked in the transaction that stores the result of the previous one: one commit per operation, not two.
final class AsyncSemaphore: Sendable {
    private let permits: Int
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var lastID = 0
        var acquired: Set<Int> = []
        /// The suspended waiter.
        var waiter: CheckedContinuation<Permit?, Never>?
    }

    /// - Parameter permits: the number of permits that can be held at the same time.
    init(permits: Int) {
        self.permits = permits
    }

    /// Waits for a free permit; `nil` after the semaphore was closed. Only one caller may wait at a time.
    func acquire() async -> Permit? {
        await withCheckedContinuation { continuation in
            update { $0.waiter = continuation }
        }
    }

    /// The right to run one operation.
    struct Permit: Sendable {
        fileprivate let semaphore: AsyncSemaphore
        fileprivate let id: Int

        /// Releases the permit. Releasing it again does nothing.
        ///
        /// - Parameter closing: whether the semaphore is closed, so that no further permit can be acquired.
        func release(closing: Bool = false) {
            semaphore.update { state in
                state.acquired.remove(id)
                if closing { state.isClosed = true }
            }
        }
    }

    /// Changes the state, then resumes the waiter if a permit is free or the semaphore is closed.
    private func update(_ change: (inout State) -> Void) {
        let (waiter, permit) = state.withLock { state -> (CheckedContinuation<Permit?, Never>?, Permit?) in
            change(&state)
            guard let waiter = state.waiter, state.isClosed || state.acquired.count < permits else {
                return (nil, nil)
            }
            state.waiter = nil
            guard !state.isClosed else { return (waiter, nil) }
            state.lastID += 1
            state.acquired.insert(state.lastID)
            return (waiter, Permit(semaphore: self, id: state.lastID))
        }
        waiter?.resume(returning: permit)
    }
}
