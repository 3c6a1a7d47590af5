// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

@testable import TableServer

extension ItemValue {
    /// Whether the value is before the other in `$orderby`.
    func sortsBefore(_ other: ItemValue) -> Bool {
        if sortRank != other.sortRank { return sortRank < other.sortRank }
        return order(to: other) == .before
    }
}
