// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A counter that starts at one.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// Returns the next number.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
