// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@testable import SyncCore

/// The fields of an item are the same, whether they have the positions of a layout or are kept by name.
struct ItemFieldsTests {
    private static let layout = FieldLayout(["text", "count", "note"])

    @Test func `a missing field differs from null`() {
        var fields = ItemFields(Self.layout, [.none, .none, .none])
        fields["text"] = .null
        #expect(fields["text"] == .some(.null))
        #expect(fields["count"] == nil)
        #expect(fields.count == 1)
        #expect(fields.byName == ["text": .null])
        fields["text"] = .none
        #expect(fields.count == 0)
    }

    @Test func `a field that the layout does not have is kept`() {
        var fields = ItemFields(Self.layout, ["a", 1, .none])
        fields["other"] = true
        #expect(fields.byName == ["text": "a", "count": 1, "other": true])
        #expect(fields["other"] == true)
        fields["other"] = .none
        #expect(fields == ["text": "a", "count": 1])
    }

    @Test func `a name that is only equivalent is the name of a new field, as in a dictionary`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        for value: ItemValue? in [.none, 1] {
            var fields = ItemFields(FieldLayout([composed]), [value])
            var expected = value.map { [composed: $0] } ?? [:]
            fields[decomposed] = 2
            expected[decomposed] = 2
            #expect(fields.byName == expected)
            #expect(fields.byName.keys.map { Array($0.utf8) } == expected.keys.map { Array($0.utf8) })
        }
    }

    @Test func `fields with different layouts are equal if they have equal values`() {
        let fields = ItemFields(Self.layout, ["a", .none, .null])
        let others: [ItemFields] = [
            ["text": "a", "note": .null], ItemFields(FieldLayout(["note", "text"]), [.null, "a"]),
            ItemFields(FieldLayout(["text", "count", "note"]), ["a", .none, .null]),
        ]
        for other in others {
            #expect(fields == other)
            #expect(fields.hashValue == other.hashValue)
        }
        let different: [ItemFields] = [
            ["text": "a"], ItemFields(Self.layout, ["a", 1, .null]),
            ItemFields(FieldLayout(["note"]), [.null]),
            ItemFields(FieldLayout(["te", "xtcount", "note"]), ["a", .none, .null]),
        ]
        for other in different { #expect(fields != other) }
    }

    @Test func `random changes have the same effect on packed fields and on a dictionary`() {
        var random = SeededGenerator(seed: 1)
        let names = (0..<12).map { "column\($0)" }
        for _ in 0..<2_000 {
            // More than eight names are looked up by hash.
            let layout = FieldLayout(
                names.shuffled(using: &random).prefix(.random(in: 0...10, using: &random)))
            let missing = [ItemValue?](repeating: .none, count: layout.count)
            var (fields, expected) = (ItemFields(layout, missing), [String: ItemValue]())
            for _ in 0..<8 {
                let (name, value) = (names.randomElement(using: &random)!, random.value())
                if Bool.random(using: &random) {
                    fields[name] = value
                } else {
                    fields.byName[name] = value
                }
                expected[name] = value
                #expect(fields.byName == expected)
                #expect(fields.count == expected.count)
                let position = Int.random(in: 0...12, using: &random)
                for name in names {
                    #expect(fields[name] == expected[name])
                    #expect(fields.value(of: name, near: position) == expected[name])
                }
            }
            #expect(fields == ItemFields(expected))
            #expect(
                fields.filter { name, _ in name != "column1" }
                    == ItemFields(expected.filter { $0.key != "column1" }))
        }
    }

    @Test func `a stored item is read with the fields of a layout, in any order`() throws {
        let fields: [String: ItemValue] = ["text": "a", "count": 1, "note": .null, "other": [1]]
        for names in [["count", "text"], ["text", "count", "note", "other", "missing"], []] {
            let (item, layout) = (Item(id: "a", fields: fields), FieldLayout(names))
            let read = try item.bytes.withUnsafeBytes { bytes throws(StoreError) in
                try Item(id: "a", bytes: bytes, keeping: layout)
            }
            #expect(read.fields == fields.filter { names.contains($0.key) })
            #expect(read.bytes.count <= item.bytes.count)
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func value() -> ItemValue? {
        switch Int.random(in: 0...3, using: &self) {
        case 0: .none
        case 1: .null
        default: .int(.random(in: 0...3, using: &self))
        }
    }
}
