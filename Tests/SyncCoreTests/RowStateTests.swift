// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// When two rows are the same state of a server's row.
@Suite struct RowStateTests {
    private func row(_ version: String, createdAt: Int?, updatedAt: Int?) -> Item {
        let times = [createdAt, updatedAt].map { second in
            second.map { Timestamp.unixEpoch.advanced(by: .seconds($0)) }
        }
        return Item(
            id: "x",
            system: SystemProperties(createdAt: times[0], updatedAt: times[1], version: version))
    }

    @Test func `a row with the same version and another time is another state`() {
        #expect(row("1", createdAt: 1, updatedAt: 2).isSameState(as: row("1", createdAt: 1, updatedAt: 2)))
        #expect(!row("1", createdAt: 1, updatedAt: 2).isSameState(as: row("1", createdAt: 1, updatedAt: 3)))
    }

    @Test func `without updatedAt, a row with the same version that was created later is another state`() {
        let old = row("1", createdAt: 1, updatedAt: nil)
        #expect(!row("1", createdAt: 2, updatedAt: 2).isSameState(as: old))
        #expect(row("1", createdAt: 1, updatedAt: 2).isSameState(as: old))
        // The response to a write can lack both.
        #expect(row("1", createdAt: nil, updatedAt: nil).isSameState(as: old))
    }
}
