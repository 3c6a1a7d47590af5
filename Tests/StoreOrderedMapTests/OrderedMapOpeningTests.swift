// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore
import Testing

struct OrderedMapOpeningTests {
    private func table(_ columns: SyncColumn...) -> [SyncTableDefinition] {
        [SyncTableDefinition("Todo", columns: columns)]
    }

    private func refusal(_ map: SortedArrayMap, _ tables: [SyncTableDefinition] = []) -> StoreError.Code? {
        do {
            _ = try OrderedMapStore(on: map, tables: tables)
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func `reopening reads a few keys and writes nothing`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try store.write { try $0.upsert((0..<1000).map { Item(id: "\($0)") }, in: "Todo") }
        let work = try map.work { _ = try OrderedMapStore(on: map) }
        #expect(work == SortedArrayMap.Work(gets: 3))
    }

    @Test func `columns may be added and removed, but not change their type`() throws {
        let map = SortedArrayMap()
        let item = Item(id: "1", fields: ["a": "x"])
        let first = try OrderedMapStore(on: map, tables: table(SyncColumn("a", .text)))
        try first.write { try $0.upsert([item], in: "Todo") }
        let second = try OrderedMapStore(on: map, tables: table(SyncColumn("b", .integer)))
        let moved = Item(id: "1", system: SystemProperties(undeclared: ["a": "x"]))
        try #expect(second.read { try $0.item(id: "1", in: "Todo") } == moved)
        #expect(refusal(map, table(SyncColumn("b", .double))) == .schemaMismatch)
        #expect(refusal(map, table(SyncColumn("a", .date), SyncColumn("b", .integer))) == .schemaMismatch)
        #expect(
            refusal(map, table(SyncColumn("a", .text, isIndexed: true), SyncColumn("b", .integer))) == nil)
    }

    @Test func `names that differ in case from stored ones are refused`() throws {
        let map = SortedArrayMap()
        _ = try OrderedMapStore(on: map, tables: table(SyncColumn("text", .text)))
        #expect(refusal(map, table(SyncColumn("Text", .text))) == .schemaMismatch)
        #expect(
            refusal(map, [SyncTableDefinition("todo", columns: [SyncColumn("text", .text)])])
                == .schemaMismatch)
        #expect(refusal(map, table(SyncColumn("text", .text))) == nil)
    }

    @Test func `a table without columns is recorded, also in the map of an earlier version`() throws {
        let map = SortedArrayMap()
        let tables = [
            SyncTableDefinition("List", columns: []),
            SyncTableDefinition("Todo", columns: [SyncColumn("list", .text)], parents: ["List"]),
        ]
        for _ in 0..<2 {
            _ = try OrderedMapStore(on: map, tables: tables)
            let recorded = try map.read { snapshot in
                try OrderedMapStore.contents(of: snapshot, maxKeyLength: map.maxKeyLength).catalog.tables
            }
            #expect(recorded.map(\.name) == ["List", "Todo"])
            #expect(try map.work { _ = try OrderedMapStore(on: map, tables: tables) }.changes == 0)
            #expect(refusal(map, [SyncTableDefinition("list", columns: [])]) == .schemaMismatch)
            // An earlier version has not written this key.
            try map.write { try $0.delete(Array("T\u{4}List".utf8)) }
        }
    }

    @Test func `a newer format is refused and not changed`() throws {
        let map = SortedArrayMap()
        _ = try OrderedMapStore(on: map)
        try map.write { map in
            let format = Array("F".utf8)
            var value = try #require(try map.get(format) { Array($0) })
            value[value.count - 1] += 1
            try map.put(value, for: format)
        }
        let work = map.work { #expect(refusal(map) == .newerFormat) }
        #expect(work.changes == 0)
    }

    @Test func `a map with other contents is refused and not changed`() throws {
        let foreign: [([UInt8], [UInt8])] = [
            ([0], []), (Array("F".utf8), []), (Array("F".utf8), [1, 65, 1]), (Array("I".utf8), [1]),
        ]
        for (key, value) in foreign {
            let map = SortedArrayMap()
            try map.write { try $0.put(value, for: key) }
            let work = map.work { #expect(refusal(map) == .corrupt) }
            #expect(work.changes == 0)
        }
    }

    @Test func `a map whose maximum key length is too short is refused`() {
        #expect(refusal(SortedArrayMap(maxKeyLength: 31)) == .unsupported)
    }

    @Test func `a closed store throws closed`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        try store.close()
        try store.close()
        let error = #expect(throws: StoreError.self) { try store.read { _ in } }
        #expect(error?.code == .closed)
    }
}
