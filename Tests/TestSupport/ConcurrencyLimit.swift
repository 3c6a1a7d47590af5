// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Bounds how many tests do something at the same time; the others wait in the order of their calls.
package actor ConcurrencyLimit {
    private var freeCount: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    package init(_ count: Int) { freeCount = count }

    /// Returns when fewer tests than the limit have begun without an ``end()``.
    package func begin() async {
        if freeCount > 0 {
            freeCount -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    package func end() {
        if waiters.isEmpty { freeCount += 1 } else { waiters.removeFirst().resume() }
    }
}
