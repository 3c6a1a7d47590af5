// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore
import Testing

/// Openings of one map that declare different columns and indexes.
struct OrderedMapSharingTests {
    private let map = SortedArrayMap()
    private let mark = SyncColumn("mark", .text)
    private let indexedMark = SyncColumn("mark", .text, isIndexed: true)
    private let other = SyncColumn("other", .integer)
    private let marked = TableQuery("T").where(.column("mark") == "x")

    private func open(_ columns: SyncColumn..., usesIndexes: Bool = true) throws -> OrderedMapStore {
        try OrderedMapStore(
            on: map, tables: [SyncTableDefinition("T", columns: columns)], usesIndexes: usesIndexes,
            isMultiProcess: true)
    }

    private func put(_ items: Item..., in store: OrderedMapStore) throws {
        try store.write { try $0.upsert(items, in: "T") }
    }

    private func item(_ id: String, in store: OrderedMapStore) throws -> Item? {
        try store.read { try $0.item(id: id, in: "T") }
    }

    private func markedIDs(in store: OrderedMapStore) throws -> [String] {
        try store.read { try $0.items(matching: marked).items.map(\.id) }
    }

    private func indexKeyCount() throws -> Int {
        try map.entries().count { $0.key.first == UInt8(ascii: "X") }
    }

    @Test func `an opening maintains an index that another opening declares`() throws {
        let first = try open(mark)
        try put(Item(id: "old", fields: ["mark": "x"]), in: first)
        let second = try open(indexedMark)
        try put(Item(id: "a", fields: ["mark": "x"]), Item(id: "b", fields: ["mark": "y"]), in: first)
        #expect(try first.write { try $0.insert(Item(id: "c", fields: ["mark": "x"]), in: "T") })
        #expect(try markedIDs(in: second) == ["a", "c", "old"])
        try put(Item(id: "a", fields: ["mark": "y"]), in: first)
        try first.write { try $0.deleteItems(ids: ["old"], in: "T") }
        #expect(try markedIDs(in: second) == ["c"])
        #expect(try indexKeyCount() == 3)
    }

    @Test func `an opening maintains an index of a column that it does not declare`() throws {
        let first = try open(other)
        let second = try open(indexedMark, other)
        try put(Item(id: "a", fields: ["mark": "x", "other": 1]), in: second)
        try put(Item(id: "a", fields: ["other": 2]), Item(id: "b", fields: ["other": 2]), in: first)
        #expect(try markedIDs(in: second) == ["a"])
        try first.write { try $0.deleteItems(ids: ["a"], in: "T") }
        #expect(try markedIDs(in: second) == [])
        #expect(try indexKeyCount() == 0)
    }

    @Test func `an opening finds its items after another one has removed its index`() throws {
        let first = try open(indexedMark)
        try put(Item(id: "a", fields: ["mark": "x"]), Item(id: "b", fields: ["mark": "y"]), in: first)
        _ = try open(mark)
        #expect(try indexKeyCount() == 0)
        #expect(try markedIDs(in: first) == ["a"])
        try put(Item(id: "c", fields: ["mark": "x"]), in: first)
        #expect(try indexKeyCount() == 0)
        #expect(try first.write { try $0.deleteItems(matching: marked) } == 2)
        #expect(try first.read { try $0.items(matching: TableQuery("T")).items.map(\.id) } == ["b"])
        // A later opening creates the index again.
        let third = try open(indexedMark)
        try put(Item(id: "d", fields: ["mark": "x"]), in: first)
        for store in [first, third] { #expect(try markedIDs(in: store) == ["d"]) }
        #expect(try indexKeyCount() == 2)
    }

    @Test func `an opening keeps the values of a column that another opening adds`() throws {
        let first = try open(mark)
        let second = try open(mark, other)
        try put(Item(id: "a", fields: ["mark": "x", "other": 7]), in: second)
        #expect(try item("a", in: first) == Item(id: "a", fields: ["mark": "x"]))
        try put(Item(id: "a", fields: ["mark": "y"]), in: first)
        #expect(try item("a", in: first) == Item(id: "a", fields: ["mark": "y"]))
        #expect(try item("a", in: second) == Item(id: "a", fields: ["mark": "y", "other": 7]))
    }

    @Test func `a snapshot that is older than a change of the columns keeps its own`() throws {
        let first = try open(indexedMark)
        try put(Item(id: "a", fields: ["mark": "x"]), in: first)
        try first.read { snapshot in
            _ = try open(mark)
            #expect(try markedIDs(in: first) == ["a"])
            #expect(try snapshot.items(matching: marked).items.map(\.id) == ["a"])
        }
    }

    @Test func `a store without indexes shares a map with one that has them`() throws {
        let first = try open(indexedMark, usesIndexes: false)
        let second = try open(indexedMark)
        try put(Item(id: "a", fields: ["mark": "x"]), in: first)
        for store in [first, second] { #expect(try markedIDs(in: store) == ["a"]) }
    }

    @Test func `each transaction of a shared map reads one more key`() throws {
        let store = try open(mark)
        let work = try map.work { _ = try item("a", in: store) }
        #expect(work == SortedArrayMap.Work(gets: 2))
        _ = try open(indexedMark)
        // The columns are read again once.
        #expect(try map.work { _ = try item("a", in: store) }.gets == 3)
        #expect(try map.work { _ = try item("a", in: store) }.gets == 2)
        #expect(try map.work { try store.write { _ in } } == SortedArrayMap.Work(gets: 1))
    }

    @Test func `a count of changes of the columns that would overflow is damaged`() throws {
        _ = try open(mark)
        let largest = withUnsafeBytes(of: Int64.max.littleEndian) { Array($0) }
        try map.write { try $0.put(largest, for: Array("V".utf8)) }
        let error = #expect(throws: StoreError.self) { try open(mark, other) }
        #expect(error?.code == .corrupt)
    }

    @Test func `a map of one process does not count changes of the columns`() throws {
        let map = SortedArrayMap()
        for column in [mark, indexedMark] {
            let store = try OrderedMapStore(
                on: map, tables: [SyncTableDefinition("T", columns: [column])], usesIndexes: true)
            #expect(try map.work { _ = try item("a", in: store) } == SortedArrayMap.Work(gets: 1))
        }
        #expect(try !map.entries().contains { $0.key.first == UInt8(ascii: "V") })
    }
}
