// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

/// Very large queries: they work, or are refused as unsupported.
struct QueryLimitTests {
    private let directory: TemporaryDirectory
    private let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Things.store(at: directory.file())
        let items = (0..<50).map { number in
            Item(
                id: "\(number)",
                fields: ["count": .int(number), "text": .text("t\(number)"), "size": .double(Double(number))])
        }
        try store.write { try $0.upsert(items + [Item(id: "none")], in: "Thing") }
    }

    @Test(arguments: [999, 1000, 100_001])
    func `any number of negations works`(count: Int) throws {
        var filter: Filter = .column("count") == 7
        for _ in 0..<count { filter = .not(filter) }
        try #expect(store.ids(filter).count == (count % 2 == 0 ? 1 : 49))
        // Unwraps the filter iteratively, because deallocating so deep a filter would recurse.
        while case .not(let inner) = filter { filter = inner }
    }

    @Test(arguments: [32, 33, 999, 1000, 1001, 10_000])
    func `a chain of any length works`(count: Int) throws {
        let equal = (0..<count).map { .column("count") == $0 }
        try #expect(store.ids(.any(equal)).count == min(count, 50))
        try #expect(store.ids(.not(.any(equal))).count == 50 - min(count, 50))
        let unequal = (0..<count).map { .column("count") != $0 + 1 }
        try #expect(store.ids(.all(unequal)).count == 50 - min(count, 49))
    }

    @Test func `a left-nested chain has the same result as a flat one`() throws {
        var filter: Filter = .column("count") == 0
        for number in 1..<1500 { filter = .any([filter, .all([.any([.column("count") == number])])]) }
        try #expect(store.ids(filter).count == 50)
    }

    @Test func `nested connectives work or are refused`() throws {
        func nested(_ depth: Int) -> Filter {
            var filter: Filter = .column("count") == 7
            for level in 0..<depth {
                filter =
                    level % 2 == 0
                    ? .all([.column("count") < 40, filter]) : .any([.column("count") == level, filter])
            }
            return filter
        }
        for depth in [2, 20, 50, 90] {
            let query = TableQuery("Thing").where(nested(depth))
            let items = try store.things().items
            try #expect(store.things(query) == query.apply(to: items))
        }
        for depth in [400, 1000] {
            let query = TableQuery("Thing").where(nested(depth))
            expectStoreError(.unsupported) { try store.things(query) }
            expectStoreError(.unsupported) { try store.write { try $0.deleteItems(matching: query) } }
        }
        try #expect(store.things().items.count == 51)
    }

    @Test func `deeply nested expressions work or are refused`() throws {
        func nested(_ depth: Int) -> Filter {
            var expression = FilterExpression.column("count")
            for _ in 0..<depth { expression = expression + 1 }
            return expression == FilterExpression.constant(.int(Int64(depth) + 7))
        }
        try #expect(store.ids(nested(80)) == ["7"])
        expectStoreError(.unsupported) { try store.ids(nested(150)) }
        expectStoreError(.unsupported) { try store.ids(nested(1000)) }
    }

    @Test(arguments: [1, 998, 8_000, 8_001, 40_000])
    func `a list of any length works`(count: Int) throws {
        let numbers = (0..<count).map(Int64.init)
        let expected = min(count, 50)
        try #expect(store.ids(.isIn(.column("id"), numbers.map(String.init))).count == expected)
        try #expect(store.ids(.isIn(.column("count"), numbers)).count == expected)
        try #expect(store.ids(.isIn(.column("count"), numbers.map(Double.init))).count == expected)
        try #expect(store.ids(.isIn(.column("size"), numbers)).count == expected)
        try #expect(store.ids(.not(.isIn(.column("count"), numbers))).count == 50 - expected)
        // "Not in" is unknown for a list that contains null.
        let withNull = numbers.map { ItemValue.int($0 + 25) } + [.null]
        try #expect(store.ids(.isIn(.column("count"), withNull)).count == min(count, 25))
        try #expect(store.ids(.not(.isIn(.column("count"), withNull))).isEmpty)
    }

    @Test(arguments: [8_000, 8_001])
    func `a long list of Booleans is compared as a short one`(count: Int) throws {
        try store.put(Item(id: "yes", fields: ["flag": true]), Item(id: "no", fields: ["flag": false]))
        try #expect(store.ids(.isIn(.column("flag"), Array(repeating: true, count: count))) == ["yes"])
        try #expect(store.ids(!.isIn(.column("flag"), Array(repeating: true, count: count))) == ["no"])
    }

    @Test func `a long list of dates is compared by instant`() throws {
        let due = try #require(Timestamp("2014-05-30T18:30:00.50Z"))
        try store.put(Item(id: "due", fields: ["due": .date(due)]))
        let dates = (0..<9000).compactMap { Timestamp(seconds: Int64($0)) } + [due.showing(fractionDigits: 7)]
        try #expect(store.ids(.isIn(.column("due"), dates)) == ["due"])
    }

    @Test func `an integer that no double represents is not equal to adjacent doubles`() throws {
        try store.put(
            Item(id: "below", fields: ["size": 0x1p53]),
            Item(id: "above", fields: ["size": 0x1.0000000000001p53]))
        let between: Int64 = 9_007_199_254_740_993
        let query = TableQuery("Thing")
        for filter in [
            .column("size") == between, .column("size") <= between, .column("size") >= between,
            .column("size") != between,
            .isIn(.column("size"), [between, 7]),
            .comparison(.less, .constant(.int(between)), .column("size")),
            .column("size") > FilterExpression.constant(.int(between - 1)) + 1,
        ] as [Filter] {
            let items = try store.things().items
            try #expect(
                store.things(query.where(filter)) == query.where(filter).apply(to: items), "\(filter)")
        }
        try #expect(store.ids(.column("size") == between).isEmpty)
    }

    @Test func `lists with more constants than SQLite supports are refused`() throws {
        let lists = (0..<5).map { Filter.isIn(.column("count"), Array(repeating: $0, count: 8000)) }
        expectStoreError(.unsupported) { try store.ids(.any(lists)) }
    }

    @Test func `one call can delete or upsert any number of items`() throws {
        let ids = (0..<40_000).map(String.init)
        try store.write { try $0.deleteItems(ids: ids, in: "Thing") }
        try #expect(store.things().items.map(\.id) == ["none"])
        try store.write { try $0.upsert(ids.map { Item(id: $0, fields: ["text": .text($0)]) }, in: "Thing") }
        try #expect(store.things(TableQuery("Thing").limit(0).includingTotalCount()).totalCount == 40_001)
        let count = try store.write {
            try $0.deleteItems(matching: TableQuery("Thing").where(.isIn(.column("id"), ids)))
        }
        #expect(count == 40_000)
    }

    @Test func `offset and limit may be the maximum integer`() throws {
        func count(offset: Int, limit: Int) throws -> Int {
            try store.things(TableQuery("Thing").offset(offset).limit(limit)).items.count
        }
        try #expect(count(offset: 0, limit: .max) == 51)
        try #expect(count(offset: 1, limit: .max) == 50)
        try #expect(count(offset: .max, limit: .max) == 0)
        try #expect(count(offset: .max, limit: 1) == 0)
        try #expect(store.things(TableQuery("Thing").offset(50)).items.count == 1)
        try #expect(
            store.write { try $0.deleteItems(matching: TableQuery("Thing").offset(.max).limit(.max)) } == 0)
    }

    @Test func `a large value is stored exactly`() throws {
        for size in [65_535, 65_536, 65_537, 1_000_001, 10_000_000] {
            let item = Item(id: "large", fields: ["text": .text(String(repeating: "é", count: size / 2))])
            try store.put(item)
            try #expect(store.thing("large") == item)
        }
    }
}
