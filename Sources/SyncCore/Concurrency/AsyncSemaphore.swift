// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Limits the number of concurrent operations of a push, which take turns in the order in which they begin.
///
/// An operation releases its permit when its response has arrived, before the result is stored. Further operations can
/// begin ahead of their turn: they are marked in the transaction that stores the result of an earlier one, while another
/// waits for its response. This is one commit per operation, not two, and no request waits for it.
final class AsyncSemaphore: Sendable {
    private let permits: Int
    private let ahead: Int
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var lastID = 0
        var acquired: Set<Int> = []
        /// The suspended caller of ``AsyncSemaphore/acquire()``.
        var waiter: CheckedContinuation<Permit?, Never>?
        /// The holders of permits that wait for their turns.
        var waitingForTurn: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    /// - Parameters:
    ///   - permits: the number of permits whose turn it is at the same time.
    ///   - ahead: the number of further permits that can be held.
    init(permits: Int, ahead: Int = 0) {
        self.permits = permits
        self.ahead = ahead
    }

    /// Waits for a free permit; `nil` after the semaphore was closed. Only one caller may wait at a time.
    func acquire() async -> Permit? {
        await withCheckedContinuation { continuation in
            update { $0.waiter = continuation }
        }
    }

    /// The right to begin one operation, and to send it when its turn comes.
    struct Permit: Sendable {
        fileprivate let semaphore: AsyncSemaphore
        fileprivate let id: Int

        /// Whether fewer earlier permits are still held than operations may run at once.
        var isItsTurn: Bool { semaphore.state.withLock { semaphore.isTurn(of: id, in: $0.acquired) } }

        /// Waits for the turn; `false` after the semaphore was closed.
        func turn() async -> Bool {
            await withCheckedContinuation { continuation in
                semaphore.update { $0.waitingForTurn[id] = continuation }
            }
        }

        /// Releases the permit. Releasing it again does nothing.
        ///
        /// - Parameter closing: whether the semaphore is closed, so that no further permit can be acquired.
        func release(closing: Bool = false) {
            guard closing || semaphore.state.withLock({ $0.acquired.contains(id) }) else { return }
            semaphore.update { state in
                state.acquired.remove(id)
                if closing { state.isClosed = true }
            }
        }
    }

    private func isTurn(of id: Int, in acquired: Set<Int>) -> Bool {
        acquired.count { $0 < id } < permits
    }

    /// Changes the state, then resumes those that have waited for the change.
    private func update(_ change: (inout State) -> Void) {
        let (turns, isClosed, waiter, permit) = state.withLock { state in
            change(&state)
            let ids = state.waitingForTurn.keys.filter {
                state.isClosed || isTurn(of: $0, in: state.acquired)
            }
            let turns = ids.compactMap { state.waitingForTurn.removeValue(forKey: $0) }
            let canAcquire = state.isClosed || state.acquired.count - ahead < permits
            guard canAcquire, let waiter = state.waiter else {
                return (turns, state.isClosed, CheckedContinuation<Permit?, Never>?.none, Permit?.none)
            }
            state.waiter = nil
            guard !state.isClosed else { return (turns, true, waiter, nil) }
            state.lastID += 1
            state.acquired.insert(state.lastID)
            return (turns, false, waiter, Permit(semaphore: self, id: state.lastID))
        }
        for turn in turns { turn.resume(returning: !isClosed) }
        waiter?.resume(returning: permit)
    }
}
