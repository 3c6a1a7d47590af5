// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A state that many threads change, and on which they can wait.
final class Gate<State: Sendable>: Sendable {
    private struct Guarded {
        var state: State
        var waiting: [DispatchSemaphore] = []
    }

    private let guarded: Mutex<Guarded>

    init(_ state: State) {
        guarded = Mutex(Guarded(state: state))
    }

    /// Waits until the condition holds, and changes the state in the same moment.
    func change<T: Sendable>(
        when condition: (State) -> Bool = { _ in true }, _ change: (inout State) -> T
    ) -> T {
        while true {
            let (result, turn) = guarded.withLock { guarded -> (T?, DispatchSemaphore?) in
                guard condition(guarded.state) else {
                    let turn = DispatchSemaphore(value: 0)
                    guarded.waiting.append(turn)
                    return (nil, turn)
                }
                defer {
                    for waiter in guarded.waiting { waiter.signal() }
                    guarded.waiting = []
                }
                return (change(&guarded.state), nil)
            }
            if let result { return result }
            turn?.wait()
        }
    }
}
