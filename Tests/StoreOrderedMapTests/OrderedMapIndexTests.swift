// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import Testing

struct OrderedMapIndexTests {
    private static func table(indexed: Bool) -> SyncTableDefinition {
        let types: [ColumnType] = [.bool, .integer, .double, .text, .date, .data]
        return SyncTableDefinition(
            "Todo", columns: types.map { SyncColumn($0.rawValue, $0, isIndexed: indexed) })
    }

    /// Edge cases of order and equality for each type; the last values exceed the encoded length.
    private static let values: [String: [ItemValue]] = [
        "bool": [false, true],
        "integer": [.int(.min), -256, -1, 0, 1, 255, 256, .int(.max)],
        "double": [
            .double(-.greatestFiniteMagnitude), -2.5, .double(-.leastNonzeroMagnitude), .double(-0.0), 0.0,
            0.5, 1.0, 1e300,
        ],
        "text": [
            "", "\0", "\0\0", "\0\u{1}", "a", "a\0", "a\0b", "a\u{1}", "ab", "b", "e\u{301}", "\u{e9}",
            "\u{10FFFF}",
            .text(x(63)), .text(x(64)), .text(x(64) + "y"), .text(x(64) + "z"), .text(x(65)),
        ],
        "date": [
            "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.000Z",
            "1970-01-01T00:00:00.0000001Z", "9999-12-31T23:59:59Z",
        ].map { Timestamp($0).map(ItemValue.date) ?? .null },
        "data": [[], [0], [0, 0], [0, 1], [1], [255], [255, 255]].map { .data(Data($0 as [UInt8])) },
    ]

    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// Several items for each value, whose ids are not in the order of the values.
    private static let items: [Item] = values.flatMap { name, values in
        (values + [.null]).enumerated().flatMap { index, value in
            ["z", String(repeating: "i", count: 600)].enumerated().map { copy, prefix in
                Item(id: "\(prefix)\(copy * 37 % 5)\(99 - index)\(name)", fields: [name: value])
            }
        }
    }

    /// Opens a store with indexes and all items, some of which replace earlier ones.
    private func filledStore(_ map: SortedArrayMap) throws -> OrderedMapStore {
        let store = try OrderedMapStore(on: map, tables: [Self.table(indexed: true)], usesIndexes: true)
        try store.write { transaction in
            let others = Self.items.shuffled().prefix(50)
            let before = zip(others, Self.items).map { Item(id: $0.id, fields: $1.fields) }
            try transaction.upsert(before, in: "Todo")
            try transaction.upsert([Item(id: "gone", fields: ["integer": 1, "text": "a"])], in: "Todo")
            try transaction.upsert(Self.items, in: "Todo")
            try transaction.deleteItems(ids: ["gone"], in: "Todo")
        }
        return store
    }

    @Test(arguments: [40, 511])
    func `indexed queries have the same results as the reference`(maxKeyLength: Int) throws {
        let store = try filledStore(SortedArrayMap(maxKeyLength: maxKeyLength))
        var filters: [Filter] = [
            .comparison(.equal, .column("integer"), .constant(1.0)), .column("integer") < 0.5,
            .column("double") == 1,
            .column("double") > Int64.max, .comparison(.less, .constant(0), .column("integer")),
            .column("integer") > -2 && .column("integer") <= 255,
            .column("integer") >= 0 && .column("text") == "a",
            .column("integer") > 1 && .column("integer") < 0,
        ]
        for (name, values) in Self.values {
            filters.append(.isIn(.column(name), values.prefix(3) + [.null, values[0]]))
            filters.append(.isIn(.column(name), [ItemValue.null]))
            filters.append(.isNull(.column(name)))
            for value in values {
                for comparison in Filter.Comparison.allCases {
                    filters.append(.comparison(comparison, .column(name), .constant(value)))
                }
                if let text = value.textValue { filters.append(.hasPrefix(.column(name), text)) }
            }
        }
        try store.read { snapshot in
            for (index, filter) in filters.enumerated() {
                let all = TableQuery("Todo").where(filter)
                let some = [
                    all.limit(3).offset(1).includingTotalCount(), all.order(byDescending: "text").limit(4),
                ]
                for query in index % 7 == 0 ? some : [all] {
                    try #expect(snapshot.items(matching: query) == query.apply(to: Self.items), "\(query)")
                }
            }
        }
    }

    @Test(arguments: [40, 511])
    func `queries in the order of an index have the same results as the reference`(maxKeyLength: Int) throws {
        let store = try filledStore(SortedArrayMap(maxKeyLength: maxKeyLength))
        try store.read { snapshot in
            for (name, values) in Self.values {
                for value in values {
                    for comparison in Filter.Comparison.allCases {
                        let filter = Filter.comparison(comparison, .column(name), .constant(value))
                        let all = TableQuery("Todo").where(filter).order(by: name)
                        for query in [
                            all.limit(0), all.limit(1), all.limit(3).offset(2),
                            all.order(byDescending: "id").limit(3),
                            all.select("id").limit(4).offset(1),
                            all.limit(2).includingTotalCount(),
                            TableQuery("Todo").where(filter).order(byDescending: name).limit(3),
                        ] {
                            try #expect(
                                snapshot.items(matching: query) == query.apply(to: Self.items), "\(query)")
                        }
                    }
                }
            }
        }
    }

    @Test func `a query in the order of an index reads nothing after the window`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map, tables: [Self.table(indexed: true)], usesIndexes: true)
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
        let store = try OrderedMapStore(on: map, tables: [Self.table(indexed: true)], usesIndexes: true)
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
        let store = try OrderedMapStore(on: map, tables: [Self.table(indexed: true)], usesIndexes: true)
        let before = try map.entries().count
        try store.write { try $0.upsert(Self.items, in: "Todo") }
        try store.write { _ = try $0.deleteItems(matching: TableQuery("Todo")) }
        try #expect(map.entries().count == before)
    }

    @Test func `an index is created and removed as declared, and is always current`() throws {
        let map = SortedArrayMap()
        func open(indexed: Bool, usesIndexes: Bool = true) throws -> OrderedMapStore {
            try OrderedMapStore(on: map, tables: [Self.table(indexed: indexed)], usesIndexes: usesIndexes)
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
