// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Rows whose `updatedAt` is later than the time of their response: they do not advance the delta token.
///
/// After the first such row, no row dated after that response moves the token. The next pull starts before
/// these rows and finds changes that are dated earlier.
struct FutureRows {
    private var latestDate: Timestamp?

    mutating func record(_ rows: [PulledRow], at time: PageTime) {
        if latestDate == nil, rows.contains(where: { $0.isDated(after: time.server) }) {
            latestDate = time.server
        }
    }

    func contains(_ row: PulledRow) -> Bool { row.isDated(after: latestDate) }
}

extension PulledRow {
    /// Whether the row's `updatedAt` is after that second.
    fileprivate func isDated(after date: Timestamp?) -> Bool {
        guard let date, let updatedAt = item.system.updatedAt else { return false }
        return updatedAt.seconds > date.seconds
    }
}
