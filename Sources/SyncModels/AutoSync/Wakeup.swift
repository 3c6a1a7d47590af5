// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Wakes one waiting task early; a signal before the wait ends it at once.
final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    /// Ends the current wait, or the next one.
    func signal() {
        let waiter = state.withLock { state in
            state.isSignalled = true
            return state.waiter
        }
        waiter?.finish()
    }

    /// Waits for a signal, for the duration, or until the task is cancelled.
    ///
    /// - Returns: whether the duration has passed.
    @discardableResult
    func wait(atMost duration: Duration?, in environment: SyncEnvironment) async -> Bool {
        let (signals, waiter) = AsyncStream.makeStream(of: Void.self)
        let isSignalled = state.withLock { state in
            state.waiter = waiter
            return state.isSignalled
        }
        if isSignalled { waiter.finish() }
        let hasPassed = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in signals {}
                return false
            }
            if let duration { group.addTask { (try? await environment.sleep(duration)) != nil } }
            let hasPassed = await group.next() ?? false
            group.cancelAll()
            return hasPassed
        }
        state.withLock { $0 = State() }
        return hasPassed
    }
}
