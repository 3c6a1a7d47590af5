// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// What several commits have changed together.
@Suite struct ChangeSetTests {
    private func changes(_ ids: [String], in table: String) -> ChangeSet {
        var changes = ChangeSet()
        changes.add(.rows(ids.map { ChangedRow(id: UTF8Text($0), item: nil) }), to: table)
        return changes
    }

    private func ids(_ change: TableChange?) -> [String]? {
        guard case .rows(let rows)? = change else { return nil }
        return rows.map(\.id.text)
    }

    @Test func `many commits of other tables change nothing in a table`() {
        var all = ChangeSet()
        for number in 0..<1500 { all.merge(changes(["\(number)"], in: "Other")) }
        #expect(all.change(of: "T") == nil)
        guard case .everything? = all.change(of: "Other") else { return #expect(Bool(false)) }
    }

    @Test func `the rows of several commits are kept in their order`() {
        var all = changes(["a"], in: "T")
        all.merge(changes(["b", "a"], in: "T"))
        #expect(ids(all.change(of: "T")) == ["a", "b", "a"])
        #expect(!all.touchesOperations && !all.mayQueueOperations)
        all.merge(.operations)
        all.merge(.queuedOperations)
        #expect(all.touchesOperations && all.mayQueueOperations)
    }

    @Test func `an unknown commit among others changes any table`() {
        var all = changes(["a"], in: "T")
        all.merge(.unknownItems)
        guard case .everything? = all.change(of: "Other") else { return #expect(Bool(false)) }
    }
}
