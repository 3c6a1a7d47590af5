// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The unreadable rows that this process has logged, so that a list that is read often logs each of them once.
enum LoggedRows {
    private static let rows = Mutex<Set<UnreadableRow>>([])
    private static let maxCount = 1000

    /// Logs the rows that are new.
    static func log(_ unreadable: [UnreadableRow], in context: SyncContext) {
        for row in unreadable where insert(row) { context.recordUnreadable(row) }
    }

    /// Returns whether the row is new and should be logged.
    private static func insert(_ row: UnreadableRow) -> Bool {
        rows.withLock { $0.count < maxCount && $0.insert(row).inserted }
    }
}
