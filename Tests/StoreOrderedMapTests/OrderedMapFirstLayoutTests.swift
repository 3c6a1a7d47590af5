// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore
import Testing

/// Maps of layout 1, which does not store which columns are synced and has no undeclared values.
struct OrderedMapFirstLayoutTests {
    @Test func `a map of the first layout is upgraded once`() throws {
        let map = SortedArrayMap()
        let (text, gone) = (SyncColumn("text", .text, isIndexed: true), SyncColumn("gone", .text))
        func open(_ columns: [SyncColumn]) throws -> OrderedMapStore {
            try OrderedMapStore(
                on: map, tables: [SyncTableDefinition("Todo", columns: columns)], usesIndexes: true)
        }
        let item = Item(id: "1", fields: ["text": "a", "gone": "x"])
        var operation = TableOperation(id: 1, table: "Todo", itemID: "1", kind: .update)
        operation.base = item
        try open([text, gone]).write { transaction in
            try transaction.upsert([item], in: "Todo")
            try transaction.put(operation)
        }
        try map.write { map in
            var format = try #require(try map.get(Array("F".utf8)) { Array($0) })
            #expect(format.last == 3)
            format[format.count - 1] = 1
            try map.put(format, for: Array("F".utf8))
            // Each column ends with its flags; layout 1 has only the index flag.
            let key = Array("T".utf8) + [4] + Array("Todo".utf8)
            let columns = try #require(try map.get(key) { Array($0) })
            try map.put(columns.map { $0 == 3 ? 1 : $0 == 2 ? 0 : $0 }, for: key)
        }
        for _ in 0..<2 {
            let store = try open([text])
            try store.read { snapshot in
                let read = try snapshot.item(id: "1", in: "Todo")
                #expect(read == Item(id: "1", fields: ["text": "a"]))
                let base = try snapshot.operation(id: 1)?.base
                #expect(base?.fields == ["text": "a"])
                #expect(base?.system.undeclared == ["gone": "x"])
            }
        }
        let work = try map.work { _ = try open([text]) }
        #expect(work.changes == 0)
        try #expect(open([text, gone]).read { try $0.item(id: "1", in: "Todo") } == item)
    }
}
