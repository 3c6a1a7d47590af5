// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// A prepared filter has the rules of the filter, for items and for stored bytes.
struct PreparedFilterTests {
    @Test func `a prepared filter matches the same rows as the filter`() throws {
        var random = SeededGenerator(seed: 1)
        var results: [Bool?: Int] = [:]
        for _ in 0..<4_000 {
            let filter = randomFilter(&random, depth: 3)
            let prepared = PreparedFilter(filter)
            let stored = StoredRow(of: prepared)
            for _ in 0..<10 {
                let item = randomItem(&random)
                results[filter.truth(for: item), default: 0] += 1
                let expected = filter.matches(item)
                let packed = Item(id: item.id, content: random.packed(item.fields), system: item.system)
                for item in [item, packed] {
                    #expect(prepared.matches(ItemRow(item: item)) == expected, "\(filter) \(item)")
                }
                let isStoredMatch = try item.bytes.withUnsafeBytes { bytes in
                    try Array(item.id.utf8).withUnsafeBytes { id in
                        try stored.move(toID: id, bytes: bytes)
                        return try prepared.matches(stored)
                    }
                }
                #expect(isStoredMatch == expected, "\(filter) \(item)")
            }
        }
        // Each truth value is common, so that no rule is passed over.
        for truth in [true, false, nil] { #expect(results[truth, default: 0] > 4_000, "\(results)") }
    }

    @Test func `each column of a filter has one position`() {
        let range: Filter = .column("n") >= 1 && .column("t") == "a" && .column("n") < 5
        #expect(PreparedFilter(range).columns == ["n", "t"])
    }

    @Test func `a deeply nested filter is prepared in one pass`() {
        var filter: Filter = .column("n") == 1
        for _ in 0..<64 { filter = .all([.not(filter), .always(true)]) }
        let prepared = PreparedFilter(filter)
        let item = Item(id: "a", fields: ["n": 1])
        #expect(prepared.matches(ItemRow(item: item)))
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 0), ("", "a", nil), ("ab", "abc", nil), ("aab", "ab", 1), ("xyé", "é", 2),
    ])
    func `a part of a text is found at its first byte`(text: String, part: String, offset: Int?) {
        #expect(text.firstByteOffset(of: part) == offset)
    }

    @Test func `a stored row that ends before a value is damaged`() throws {
        // A number has nine bytes: its type and its value.
        let bytes = Array(Item(id: "a", fields: ["n": 1]).bytes.dropLast(9))
        let error = #expect(throws: StoreError.self) { try matches(.column("n") == 1, bytes) }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a stored number that is not finite is damaged`(_ number: Double) throws {
        let bytes = Item(id: "a", fields: ["n": .double(number)]).bytes
        let column = FilterExpression.column("n")
        let filters: [Filter] = [
            .comparison(.less, column, .constant(1)), .comparison(.less, column, .constant(1.5)),
            .comparison(.equal, column, column),
        ]
        for filter in filters {
            let error = #expect(throws: StoreError.self) { try matches(filter, bytes) }
            #expect(error?.code == .corrupt)
        }
        let error = #expect(throws: StoreError.self) {
            try bytes.withUnsafeBytes { try Item(id: "a", bytes: $0) }
        }
        #expect(error?.code == .corrupt)
    }

    /// Whether the filter matches the stored row.
    private func matches(_ filter: Filter, _ bytes: [UInt8]) throws -> Bool {
        let prepared = PreparedFilter(filter)
        let row = StoredRow(of: prepared)
        return try bytes.withUnsafeBytes { bytes in
            try Array("a".utf8).withUnsafeBytes { id in
                try row.move(toID: id, bytes: bytes)
                return try prepared.matches(row)
            }
        }
    }

    private static let names = ["n", "t", "b", "at", "bytes", "id", "version", "deleted"]
    private static let texts = ["", "a", "ab", "é", "e\u{301}", "b\0a"]

    private func randomFilter(_ random: inout SeededGenerator, depth: Int) -> Filter {
        let column = FilterExpression.column(pick(Self.names, &random))
        let constant = FilterExpression.constant(randomValue(&random))
        switch Int.random(in: depth == 0 ? 3..<10 : 0..<10, using: &random) {
        case 0: return .all(randomFilters(&random, depth: depth - 1))
        case 1: return .any(randomFilters(&random, depth: depth - 1))
        case 2: return .not(randomFilter(&random, depth: depth - 1))
        case 3: return .nullTest(column)
        case 4:
            let count = Int.random(in: 0...3, using: &random)
            return .membership(column, (0..<count).map { _ in randomValue(&random) })
        case 5:
            let part = FilterExpression.constant(.text(pick(Self.texts, &random)))
            return .text(pick(Filter.TextTest.allCases, &random), column, part)
        case 6: return .comparison(pick(Filter.Comparison.allCases, &random), constant, column)
        case 7:
            let other = FilterExpression.column(pick(Self.names, &random))
            return .comparison(pick(Filter.Comparison.allCases, &random), column, other)
        default: return .comparison(pick(Filter.Comparison.allCases, &random), column, constant)
        }
    }

    private func randomFilters(_ random: inout SeededGenerator, depth: Int) -> [Filter] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in randomFilter(&random, depth: depth) }
    }

    private func randomItem(_ random: inout SeededGenerator) -> Item {
        var item = Item(id: pick(["a", "ab"], &random))
        for name in ["n", "t", "b", "at", "bytes", "other"] where Bool.random(using: &random) {
            item.fields[name] = randomValue(&random)
        }
        if Bool.random(using: &random) { item.system.version = pick(Self.texts, &random) }
        item.system.deleted = Bool.random(using: &random)
        return item
    }

    private func randomValue(_ random: inout SeededGenerator) -> ItemValue {
        let values: [ItemValue] = [
            .null, .bool(true), .bool(false), .int(1), .int(2), .double(1), .double(1.5), .double(0x1p63),
            .int(.min), .int(.max), .date(.unixEpoch), .data(Data([1])), .data(Data()), .array([1]),
            .object(["a": 1]),
        ]
        return Bool.random(using: &random) ? .text(pick(Self.texts, &random)) : pick(values, &random)
    }

    private func pick<Element>(_ elements: [Element], _ random: inout SeededGenerator) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }
}

private struct ItemRow: ScannedRow {
    let item: Item

    subscript(name: String) -> ItemValue? { item[name] }

    func truth(of condition: ColumnCondition) -> Bool? { condition.truth(for: item.content) }

    func read(_ columns: ColumnPositions, into values: inout RowValues) { values.read(item, columns) }
}

extension SeededGenerator {
    /// Returns the fields in a layout of random order, with a name that no field has.
    mutating func packed(_ fields: [String: ItemValue]) -> ItemFields {
        let names = (fields.keys.sorted() + ["other"]).shuffled(using: &self)
        return ItemFields(fields).packed(in: FieldLayout(names))
    }
}
