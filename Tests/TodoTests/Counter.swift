// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts from one.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// The next number.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
