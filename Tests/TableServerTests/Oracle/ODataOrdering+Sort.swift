// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

@testable import TableServer

extension [ODataOrdering] {
    /// Sorts rows by these keys, then by id.
    func sort(_ rows: [TableRow]) -> [TableRow] {
        let keyed = rows.map { row in (row: row, keys: map { $0.column.value(in: row) }) }
        let sorted = keyed.sorted { left, right in
            for (position, ordering) in enumerated() {
                let (a, b) = (left.keys[position], right.keys[position])
                if a.sortsBefore(b) { return !ordering.isDescending }
                if b.sortsBefore(a) { return ordering.isDescending }
            }
            return left.row.id.precedesInBytes(right.row.id)
        }
        return sorted.map(\.row)
    }
}
