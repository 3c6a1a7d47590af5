// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The unreadable rows that a context has logged, so that a list which is read often logs each of them once.
final class LoggedRows: Sendable {
    /// A bound of the memory, above which rows can be logged again.
    private static let maxCount = 100_000

    private let hashes = Mutex<Set<Int>>([])

    /// Adds the row.
    ///
    /// - Returns: whether it is new, and should be logged.
    func insert(_ row: UnreadableRow) -> Bool {
        hashes.withLock { hashes in
            if hashes.count == Self.maxCount { hashes.removeAll() }
            return hashes.insert(row.hashValue).inserted
        }
    }
}
