// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

struct OrderedMapIndexTests {
    /// Opens a store with indexes and all items.
    private func filledStore(_ map: SortedArrayMap) throws -> OrderedMapStore {
        let store = try OrderedMapStore(
            on: map, tables: [IndexedItems.table(indexed: true)], usesIndexes: true)
        try IndexedItems.fill(store)
        return store
    }

    @Test(arguments: [40, 511])
    func `indexed queries have the same results as the reference`(maxKeyLength: Int) throws {
        let store = try filledStore(SortedArrayMap(maxKeyLength: maxKeyLength))
        try store.read { snapshot in
            for query in IndexedItems.filteredQueries {
                try #expect(
                    snapshot.items(matching: query) == query.apply(to: IndexedItems.items), "\(query)")
            }
        }
    }

    @Test(arguments: [40, 511])
    func `queries in the order of an index have the same results as the reference`(maxKeyLength: Int) throws {
        let store = try filledStore(SortedArrayMap(maxKeyLength: maxKeyLength))
        try store.read { snapshot in
            for query in IndexedItems.orderedQueries {
                try #expect(
                    snapshot.items(matching: query) == query.apply(to: IndexedItems.items), "\(query)")
            }
        }
    }

    @Test func `a query in the order of an index reads nothing after the window`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(
            on: map, tables: [IndexedItems.table(indexed: true)], usesIndexes: true)
        try store.write { transaction in
            try transaction.upsert(
                (0..<1000).map { Item(id: "\($0)", fields: ["integer": .int($0)]) }, in: "Todo")
        }
        let query = TableQuery("Todo").where(.column("integer") >= 100 && .column("integer") < 900).order(
            by: "integer")
        let work = try map.work {
            _ = try store.read { try $0.items(matching: query.offset(2).limit(5)) }
        }
        #expect(work == SortedArrayMap.Work(gets: 8, scans: 1, scanned: 8))
    }

    @Test func `a query reads only the matching range of an index`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(
            on: map, tables: [IndexedItems.table(indexed: true)], usesIndexes: true)
        try store.write { transaction in
            try transaction.upsert(
                (0..<1000).map { Item(id: "\($0)", fields: ["integer": .int($0 % 100)]) }, in: "Todo")
        }
        func work(_ filter: Filter, limit: Int? = nil) throws -> SortedArrayMap.Work {
            var query = TableQuery("Todo").where(filter)
            query.limit = limit
            return try map.work { _ = try store.read { try $0.items(matching: query) } }
        }
        try #expect(work(.column("integer") == 7) == SortedArrayMap.Work(gets: 10, scans: 1, scanned: 11))
        try #expect(
            work(.column("integer") == 7, limit: 2) == SortedArrayMap.Work(gets: 2, scans: 1, scanned: 2))
        try #expect(
            work(.isIn(.column("integer"), [7, 8, 7])) == SortedArrayMap.Work(gets: 20, scans: 2, scanned: 22)
        )
        try #expect(work(.column("integer") >= 95 && .column("integer") < 97).scanned == 31)
        try #expect(work(.column("integer") == 7 && .column("bool") == true).gets == 0)
    }

    @Test func `deleted items leave no index entries`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(
            on: map, tables: [IndexedItems.table(indexed: true)], usesIndexes: true)
        let before = try map.entries().count
        try store.write { try $0.upsert(IndexedItems.items, in: "Todo") }
        try store.write { _ = try $0.deleteItems(matching: TableQuery("Todo")) }
        try #expect(map.entries().count == before)
    }

    @Test func `an index is created and removed as declared, and is always current`() throws {
        let map = SortedArrayMap()
        func open(indexed: Bool, usesIndexes: Bool = true) throws -> OrderedMapStore {
            try OrderedMapStore(
                on: map, tables: [IndexedItems.table(indexed: indexed)], usesIndexes: usesIndexes)
        }
        func holdsIndex() throws -> Bool { try map.entries().contains { $0.key.first == UInt8(ascii: "X") } }
        let query = TableQuery("Todo").where(.column("integer") == 1)
        func found(_ store: OrderedMapStore) throws -> [String] {
            try store.read { try $0.items(matching: query).items.map(\.id) }
        }
        for (indexed, usesIndexes) in [(true, false), (true, true), (false, true), (true, true)] {
            let store = try open(indexed: indexed, usesIndexes: usesIndexes)
            let hasIndex = indexed && usesIndexes
            try store.write {
                try $0.upsert([Item(id: "a\(indexed)\(usesIndexes)", fields: ["integer": 1])], in: "Todo")
            }
            let work = try map.work { _ = try found(store) }
            #expect((work.gets > 0) == hasIndex)
            try #expect(holdsIndex() == hasIndex)
        }
        try #expect(found(open(indexed: true)) == ["afalsetrue", "atruefalse", "atruetrue"])
        let undeclared = SyncTableDefinition("Todo", columns: [])
        let store = try OrderedMapStore(on: map, tables: [undeclared], usesIndexes: true)
        try #expect(!holdsIndex())
        try store.write { try $0.upsert([Item(id: "atruetrue")], in: "Todo") }
        // The value of an undeclared column is kept when the item is replaced.
        try #expect(found(open(indexed: true)) == ["afalsetrue", "atruefalse", "atruetrue"])
    }
}
