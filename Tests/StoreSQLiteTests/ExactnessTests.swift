// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

struct ExactnessTests {
    private let directory: TemporaryDirectory
    private let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Things.store(at: directory.file())
    }

    static let texts = [
        "", " ", "a\0b", "\0", "\0\0", "a", "é", "e\u{301}", "\u{2028}\u{2029}", "♪♫", "💩", "🏳️‍🌈", "🇵🇲",
        "\u{F8FF}", "\u{2A2B2}", "שלום", "1", "1.0", "-0", "1e5", "0x10", "NULL", "null", "true", "'", "\"",
        "''; --",
        "\\", "%_", "\u{FFFD}", "\u{FEFF}x", "\n\r\t", "2014-01-01T00:00:00",
        String(repeating: "x", count: 100_000),
    ]

    static let values: [String: [ItemValue]] = [
        "flag": [true, false, .null],
        "count": [
            0, 1, -1, .int(.max), .int(.min), .int(1 << 53 + 1), .int(-(1 << 53) - 1), 1_458_743_338_878,
            .null,
        ],
        "size": [
            0.0, .double(-0.0), 1.0, -1.0, 0.1, .double(0.1 + 0.2), 1e15, 1e16, 1e300, -1e300,
            .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .double(.pi),
            0x1p53, 0x1p63, -0x1p63, 1_015_555_132.0, .null,
        ],
        "text": texts.map(ItemValue.text) + [.null],
        "due": [
            "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.9Z",
            "2014-05-30T18:30:00Z", "2014-05-30T18:30:00.0Z", "2014-05-30T18:30:00.000Z",
            "2014-05-30T18:30:00.7050001Z", "2014-05-30T18:30:00.705Z",
        ].map { .date(Timestamp($0) ?? Timestamp(Date(timeIntervalSince1970: 0))) } + [.null],
        "blob": [
            .data(Data()), .data(Data([0])), .data(Data([0, 255, 0])), .data(Data(count: 70_000)), .null,
        ],
        "extra": [
            true, 1, 1.0, .double(-0.0), "1", "", "a\0b", [], [:], [1, [2, nil], ["a": "b"]],
            ["$date": "x"], ["": nil, "é": 1, "e\u{301}": 2], .null,
        ],
    ]

    @Test(arguments: values.keys.sorted())
    func `every value is stored exactly`(column: String) throws {
        for value in try #require(Self.values[column]) {
            let item = Item(id: "1", fields: [column: value])
            try store.put(item)
            try #expect(store.thing("1") == item)
            try #expect(store.things().items == [item])
        }
    }

    @Test func `every value is the same after reopening`() throws {
        var items: [Item] = []
        for (column, values) in Self.values {
            for (index, value) in values.enumerated() {
                items.append(Item(id: "\(column)-\(index)", fields: [column: value]))
            }
        }
        try store.write { try $0.upsert(items, in: "Thing") }
        try store.close()
        let reopened = try Things.store(at: directory.file())
        for item in items { try #expect(reopened.thing(item.id) == item) }
        try reopened.close()
    }

    @Test func `a missing field and a null field are different`() throws {
        let missing = Item(id: "missing")
        let null = Item(id: "null", fields: ["text": nil, "count": nil, "blob": nil, "extra": nil])
        let empty = Item(id: "empty", fields: ["text": "", "blob": .data(Data())])
        try store.put(missing, null, empty)
        try #expect(store.things().items == [empty, missing, null])
        try store.put(Item(id: "null"))
        try #expect(store.thing("null") == Item(id: "null"))
    }

    @Test func `a selection keeps its nulls and negative zeros and omits those of other columns`() throws {
        try store.put(Item(id: "1", fields: ["text": nil, "count": nil, "size": -0.0, "ratio": -0.0]))
        let found = try store.things(TableQuery("Thing").select("text", "size", "version"))
        #expect(found.items == [Item(id: "1", fields: ["text": nil, "size": -0.0])])
    }

    @Test func `system properties are stored exactly`() throws {
        let system = SystemProperties(
            createdAt: Timestamp("2014-05-30T18:30:00.0000000Z"),
            updatedAt: Timestamp("2014-05-30T18:30:01Z"),
            version: "a\0=\"é", supersededVersions: ["e\u{301}", "", "\0"])
        let item = Item(id: "1", fields: ["text": "x"], system: system)
        try store.put(item)
        try #expect(store.thing("1") == item)
        try #expect(store.things(TableQuery("Thing").select("text")).items == [item])
    }

    @Test func `ids that differ in any byte are different`() throws {
        let ids = ["é", "e\u{301}", "A", "a", "1", "01", "1.0", " 1", "1 ", "%31", "💩", "💩\u{FE0F}"]
        let items = ids.map { Item(id: $0, fields: ["text": .text("of " + $0)]) }
        try store.write { try $0.upsert(items, in: "Thing") }
        for item in items { try #expect(store.thing(item.id) == item) }
        let found = try store.things().items.map { Array($0.id.utf8) }
        #expect(found == ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        try store.write { try $0.deleteItems(ids: ["é"], in: "Thing") }
        try #expect(store.thing("é") == nil)
        try #expect(store.thing("e\u{301}") == items[1])
    }

    @Test func `the longest id is stored and a longer one is refused`() throws {
        let longest = String(repeating: "💩", count: 255)
        try store.put(Item(id: longest))
        try #expect(store.thing(longest)?.id == longest)
        expectStoreError(.unsupported) { try store.put(Item(id: longest + "x")) }
        try #expect(store.things().items.count == 1)
    }

    @Test func `an upsert replaces the whole item, and the last duplicate is stored`() throws {
        let system = SystemProperties(
            createdAt: Timestamp("2014-05-30T18:30:00Z"), updatedAt: Timestamp("2014-05-30T18:30:01Z"),
            version: "v", supersededVersions: ["u"])
        let fields = Dictionary(
            uniqueKeysWithValues: Things.definition.columns.compactMap { column in
                Self.values.first { Things.definition.type(ofColumn: $0.key) == column.type }
                    .map { (column.name, $0.value[0]) }
            })
        let full = Item(id: "1", fields: fields, system: system)
        #expect(full.fields.count == Things.definition.columns.count)
        try store.put(full)
        try store.put(Item(id: "1"))
        try #expect(store.things().items == [Item(id: "1")])
        try store.put(Item(id: "1", fields: ["note": "dropped"]), full)
        try #expect(store.things().items == [full])
    }

    @Test func `items that a table cannot store are refused, and the write is rolled back`() throws {
        expectStoreError(.schemaMismatch) { try store.put(Item(id: "1"), Item(id: "2", fields: ["text": 1])) }
        expectStoreError(.schemaMismatch) {
            try store.put(Item(id: "1"), Item(id: "2", fields: ["nowhere": 1]))
        }
        expectStoreError(.unsupported) {
            try store.put(Item(id: "1", system: SystemProperties(deleted: true)))
        }
        try #expect(store.things().items.isEmpty)
    }
}
