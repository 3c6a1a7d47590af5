// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A monitor: state protected by a mutex, with a condition to wait for.
final class Monitor<State: Sendable>: Sendable {
    private struct Protected {
        var state: State
        var waiters: [DispatchSemaphore] = []
    }

    private let protected: Mutex<Protected>

    init(_ state: State) {
        protected = Mutex(Protected(state: state))
    }

    /// Blocks the thread until the condition holds, then runs the body in the same critical section.
    func withLock<T: Sendable>(
        when condition: (State) -> Bool = { _ in true }, _ body: (inout State) -> T
    ) -> T {
        while true {
            let (result, waiter) = protected.withLock { protected -> (T?, DispatchSemaphore?) in
                guard condition(protected.state) else {
                    let waiter = DispatchSemaphore(value: 0)
                    protected.waiters.append(waiter)
                    return (nil, waiter)
                }
                defer {
                    for waiter in protected.waiters { waiter.signal() }
                    protected.waiters = []
                }
                return (body(&protected.state), nil)
            }
            if let result { return result }
            waiter?.wait()
        }
    }
}
