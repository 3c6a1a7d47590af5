// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore
import Testing

/// Openings of one map, some of which do not declare a column.
struct OrderedMapHiddenColumnTests {
    private let map = SortedArrayMap()
    private let text = SyncColumn("text", .text)
    private let note = SyncColumn("note", .text)

    private func open(_ columns: SyncColumn...) throws -> OrderedMapStore {
        try OrderedMapStore(
            on: map, tables: [SyncTableDefinition("T", columns: columns)], isMultiProcess: true)
    }

    @Test func `a change of a column is kept after another opening has not declared the column`() throws {
        let app = try open(text, note)
        let row = Item(id: "a", fields: ["text": "t", "note": "server"])
        try app.write { try $0.upsert([row], in: "T") }
        _ = try open(text)
        let edited = Item(id: "a", fields: ["text": "t", "note": "edited"])
        try app.write { transaction in
            let base = try #require(try transaction.item(id: "a", in: "T"))
            #expect(base.system.undeclared == ["note": "server"])
            var item = base
            item.fields = edited.fields
            try transaction.put(TableOperation(id: 1, table: "T", itemID: "a", kind: .update, base: base))
            try transaction.upsert([item], in: "T")
        }
        let reopened = try open(text, note)
        #expect(try reopened.read { try $0.item(id: "a", in: "T") } == edited)
        #expect(try reopened.read { try $0.operation(id: 1)?.base } == row)
    }
}
