// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import Testing

struct OrderedMapItemTests {
    /// A length that puts most ids into buckets, LMDB's length, and no limit.
    static let keyLengths = [32, 511, .max]
    static let absentColumn = TableQuery("Todo").where(
        .comparison(.equal, .column("absent"), .constant(1)))

    @Test(arguments: keyLengths) func `items are stored exactly`(maxKeyLength: Int) throws {
        let store = try OrderedMapStore(on: SortedArrayMap(maxKeyLength: maxKeyLength))
        try store.write { try $0.upsert(EdgeCaseItems.all, in: "Todo") }
        try store.read { snapshot in
            for item in EdgeCaseItems.all { try #expect(snapshot.item(id: item.id, in: "Todo") == item) }
            let found = try snapshot.items(matching: TableQuery("Todo"))
            #expect(found == TableQuery("Todo").apply(to: EdgeCaseItems.all))
        }
    }

    @Test func `a filter reads each column exactly`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        try store.write { try $0.upsert(EdgeCaseItems.all, in: "Todo") }
        let columns = Set(EdgeCaseItems.all.flatMap(\.fields.keys)).union(["id", "absent"])
            .union(SystemProperties.names)
        for column in columns {
            for value in Set(EdgeCaseItems.all.compactMap { $0[column] }).union([.null]) {
                var query = TableQuery("Todo")
                query.filter = .comparison(.equal, .column(column), .constant(value))
                let found = try store.read { try $0.items(matching: query) }
                #expect(found == query.apply(to: EdgeCaseItems.all))
                #expect(!found.items.isEmpty || !value.isComparable || column == "absent")
            }
        }
    }

    @Test(arguments: keyLengths) func `deleting an item keeps all others`(maxKeyLength: Int) throws {
        let store = try OrderedMapStore(on: SortedArrayMap(maxKeyLength: maxKeyLength))
        var left = EdgeCaseItems.all
        try store.write { try $0.upsert(left, in: "Todo") }
        while let item = left.popLast() {
            try store.write { try $0.deleteItems(ids: [item.id, "absent"], in: "Todo") }
            try #expect(store.read { try $0.items(matching: TableQuery("Todo")).items.count } == left.count)
            try #expect(store.read { try $0.item(id: item.id, in: "Todo") } == nil)
        }
    }

    @Test(arguments: keyLengths) func `tables whose names have a common prefix are separate`(
        maxKeyLength: Int
    ) throws {
        let names = [
            "a", "ab", "abc", "A_", String(repeating: "a", count: 128), String(repeating: "a", count: 127),
        ]
        let store = try OrderedMapStore(
            on: SortedArrayMap(maxKeyLength: maxKeyLength),
            tables: names.map { SyncTableDefinition($0, columns: []) })
        let ids = ["b", "bc", "c", "\u{1}ab", "aa"]
        try store.write { transaction in
            for name in names { try transaction.upsert(ids.map { Item(id: $0) }, in: name) }
            try transaction.deleteItems(ids: ["b", "aa"], in: "a")
            try transaction.deleteItems(matching: TableQuery("abc"))
        }
        for name in names {
            let left = name == "a" ? ["\u{1}ab", "bc", "c"] : name == "abc" ? [] : ids.sorted()
            try #expect(store.read { try $0.items(matching: TableQuery(name)).items.map(\.id) } == left)
        }
    }

    @Test func `upserting replaces the whole item, and the last duplicate is stored`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let last = Item(id: "1", fields: ["text": "c"], system: SystemProperties(version: "2"))
        try store.write {
            try $0.upsert([Item(id: "1", fields: ["integer": 1, "bool": true])], in: "Todo")
            try $0.upsert([Item(id: "1", fields: ["text": "b"]), last], in: "Todo")
            try #expect($0.item(id: "1", in: "Todo") == last)
        }
        try #expect(store.read { try $0.item(id: "1", in: "Todo") } == last)
    }

    @Test(arguments: keyLengths) func `inserting adds new items and keeps existing ones`(
        maxKeyLength: Int
    ) throws {
        let store = try OrderedMapStore(on: SortedArrayMap(maxKeyLength: maxKeyLength))
        let ids = (0..<40).map { String(repeating: "k", count: $0 % 20 + 1) + "\($0 / 20)" }
        try store.write { transaction in
            for (index, id) in ids.enumerated() {
                let item = Item(id: id, fields: ["integer": .int(Int64(index))])
                try #expect(transaction.insert(item, in: "Todo"))
                try #expect(!transaction.insert(Item(id: ids[index / 2]), in: "Todo"))
            }
        }
        try store.read { snapshot in
            for (index, id) in ids.enumerated() {
                try #expect(snapshot.item(id: id, in: "Todo")?["integer"] == .int(Int64(index)))
            }
        }
    }

    @Test func `an unknown table is refused, also in calls without items`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let calls: [(any StoreTransaction) throws -> Void] = [
            { _ = try $0.item(id: "1", in: "Other") }, { _ = try $0.items(matching: TableQuery("Other")) },
            { try $0.upsert([], in: "Other") }, { try $0.deleteItems(ids: [], in: "Other") },
            { try $0.deleteItems(matching: TableQuery("Other")) },
        ]
        for call in calls {
            let error = #expect(throws: SyncError.self) { try store.write(call) }
            #expect(error?.code == .unknownTable)
        }
    }

    @Test func `an id longer than declared is refused`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let item = Item(id: String(repeating: "x", count: 1021))
        let error = #expect(throws: StoreError.self) { try store.write { try $0.upsert([item], in: "Todo") } }
        #expect(error?.code == .unsupported)
        try #expect(store.read { try $0.item(id: item.id, in: "Todo") } == nil)
    }

    @Test func `a write that throws is rolled back`() throws {
        struct Refusal: Error {}
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try store.write { try $0.upsert([Item(id: "1")], in: "Todo") }
        let before = try map.entries()
        #expect(throws: Refusal.self) {
            try store.write { transaction in
                try transaction.upsert([Item(id: "2")], in: "Todo")
                try transaction.deleteItems(ids: ["1"], in: "Todo")
                throw Refusal()
            }
        }
        try #expect(map.entries().elementsEqual(before, by: ==))
    }

    @Test func `any damage of an item is reported`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        let items = EdgeCaseItems.all.filter { !$0.fields.isEmpty && $0.id != "long" }
        for item in items {
            try store.write { try $0.upsert([item], in: "Todo") }
            let (key, value) = try #require(try map.entries().last { $0.key.first == UInt8(ascii: "I") })
            for length in 0..<value.count {
                try map.write { try $0.put(Array(value.prefix(length)), for: key) }
                let error = #expect(throws: StoreError.self) {
                    try store.read { try $0.item(id: item.id, in: "Todo") }
                }
                #expect(error?.code == .corrupt)
                // The filter uses a column that no item has, so it decodes the whole item.
                let queryError = #expect(throws: StoreError.self) {
                    try store.read { try $0.items(matching: Self.absentColumn) }
                }
                #expect(queryError?.code == .corrupt)
            }
            for index in value.indices {
                var damaged = value
                damaged[index] ^= 0xFF
                try map.write { try $0.put(damaged, for: key) }
                // Some damage is valid content; the test only requires that reading ends.
                _ = try? store.read { try $0.item(id: item.id, in: "Todo") }
                _ = try? store.read { try $0.items(matching: Self.absentColumn) }
            }
            try store.write { try $0.deleteItems(ids: [item.id], in: "Todo") }
        }
    }

    @Test func `damaged bytes with deep nesting or a repeated name are reported`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try store.write { try $0.upsert([Item(id: "1", fields: ["json": []])], in: "Todo") }
        let (key, value) = try #require(try map.entries().last { $0.key.first == UInt8(ascii: "I") })
        let (head, array, field) = (
            value.dropLast(2), Array(value.suffix(2)), Array(value.dropFirst(2).dropLast(2))
        )
        let oneElement = [array[0], 1]
        let nested = head + Array(repeatElement(oneElement, count: 200_000).joined()) + array
        let repeated = [value[0], 2] + field + array + field + array
        for damaged in [nested, ArraySlice(repeated)] {
            try map.write { try $0.put(Array(damaged), for: key) }
            let error = #expect(throws: StoreError.self) {
                try store.read { try $0.item(id: "1", in: "Todo") }
            }
            #expect(error?.code == .corrupt)
            _ = try? store.read { try $0.items(matching: Self.absentColumn) }
        }
    }

    @Test func `a damaged count does not reserve memory`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try store.write { try $0.upsert([Item(id: "1", fields: ["json": []])], in: "Todo") }
        let (key, value) = try #require(try map.entries().last { $0.key.first == UInt8(ascii: "I") })
        let greatest = [UInt8](repeating: 0xFF, count: 8) + [0x7F]
        for end in [1, value.count - 1] {
            try map.write { try $0.put(value.prefix(end) + greatest, for: key) }
            let error = #expect(throws: StoreError.self) {
                try store.read { try $0.item(id: "1", in: "Todo") }
            }
            #expect(error?.code == .corrupt)
        }
    }
}

extension ItemValue {
    /// Whether a comparison with an equal value can be true.
    fileprivate var isComparable: Bool {
        switch self {
        case .null, .array, .object: false
        case .double(let double): double.isFinite
        default: true
        }
    }
}
