// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The unreadable rows of pulls whose results the caller has not received, because they or a push before them have failed.
///
/// The delta tokens are past these rows, so the next pull of their table lists them.
final class UnlistedRows: Sendable {
    private let rows = Mutex<[UnreadableRow]>([])

    func keep(_ unreadable: [UnreadableRow]) { rows.withLock { $0.add(unreadable) } }

    /// Returns the rows of the table, once.
    func take(of table: String) -> [UnreadableRow] {
        rows.withLock { rows in
            let taken = rows.filter { $0.table == table }
            if !taken.isEmpty { rows.removeAll { $0.table == table } }
            return taken
        }
    }

    /// Forgets the rows, which belong to a user whose items are removed.
    func removeAll() { rows.withLock { $0 = [] } }
}

extension SyncContext {
    /// Keeps the unreadable rows of a result that is not returned, for the next pull of their table.
    package func keepUnlistedRows(of result: PullResult) { unlistedRows.keep(result.unreadable) }
}
