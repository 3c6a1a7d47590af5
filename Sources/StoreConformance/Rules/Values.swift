// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// What comes back of what was put: the same, bit for bit.
    @RuleList static var values: [StoreRule] {
        StoreRule("value.null", "An explicit null is not a missing field.") { run in
            for column in Fixture.thing.columns {
                try run.expectExact(.null, in: column.name, "null in '\(column.name)'")
            }
            try run.expectExact(Item(id: "it"), "an item without fields")
        }
        StoreRule("value.bool", "Booleans stay Booleans.") { run in
            try run.expectExact(true, in: "flag", "true")
            try run.expectExact(false, in: "flag", "false")
        }
        StoreRule("value.integer", "Integers are exact from the least to the greatest of 64 bits.") { run in
            for int: Int64 in [
                0, 1, -1, .min, .max, .min + 1, .max - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1,
                1_458_743_338_878, 2_147_483_648, -2_147_483_649, 4_294_967_296,
            ] {
                try run.expectExact(.int(int), in: "count", "the integer \(int)")
            }
        }
        StoreRule("value.double", "Doubles are exact to the last bit, and negative zero stays negative.") {
            run in
            for double in [
                0.0, -0.0, 0.1, 0.1 + 0.2, 1.0 / 3, .leastNonzeroMagnitude, .leastNormalMagnitude,
                .greatestFiniteMagnitude,
                -1e308, 1_015_555_132.0, 0x1p53, 0x1p63, .pi, 40.234_523_452_345_235,
            ] as [Double] {
                try run.expectExact(.double(double), in: "ratio", "the double \(double)")
            }
        }
        StoreRule("value.double.whole", "A whole double stays a double.") { run in
            for double in [1.0, -3.0, 1e15, 1e18] {
                try run.expectExact(.double(double), in: "ratio", "\(double)")
            }
        }
        StoreRule("value.text", "Text is exact byte for byte: case, white space, normal form, NUL.") { run in
            for text in [
                "", " ", " x \n", "\t", "a\0b", "\0", "Case", "e\u{301}", "\u{e9}", "\u{FEFF}x", "\u{2028}",
                "\u{10FFFF}", "1", "1.0", "true", "null", "2014-05-30T18:30:00Z", "\r\n",
            ] {
                try run.expectExact(.text(text), in: "label", "the text \(text.exactForm)")
            }
        }
        StoreRule("value.text.indexed", "Text in an indexed or local column is as exact.") { run in
            for text in ["", " x ", "a\0b", "e\u{301}", String(repeating: "long ", count: 500)] {
                try run.expectExact(.text(text), in: "mark", "indexed \(text.exactForm)")
                try run.expectExact(.text(text), in: "note", "local \(text.exactForm)")
            }
        }
        StoreRule("value.date", "Dates keep every digit they came with.") { run in
            for text in [
                "2014-05-30T18:30:00Z", "2014-05-30T18:30:00.0Z", "2014-05-30T18:30:00.000Z",
                "2014-05-30T18:30:00.705Z", "2014-05-30T18:30:00.7050001Z", "1969-12-31T23:59:59.999Z",
                "0001-01-01T00:00:00.000000001Z", "9999-12-31T23:59:59.999999999Z", "2000-02-29T12:00:00.12Z",
            ] {
                try run.expectExact(Fixture.date(text), in: "due", "the date \(text)")
            }
        }
        StoreRule("value.data", "Binary data may hold any bytes, or none.") { run in
            let samples = [
                Data(), Data([0]), Data(0...255), Data("text".utf8), Data(repeating: 0, count: 1000),
            ]
            for data in samples { try run.expectExact(.data(data), in: "blob", "data \(data.exactForm)") }
        }
        StoreRule(
            "value.json", "Nested lists and objects come back equal, with the types they were put with."
        ) { run in
            let values: [ItemValue] = [
                [], [:], [nil, true, 0, 0.0, .double(-0.0), "", [[]]], ["": ["a": ["b": nil]]], true, "text",
                7, 0.5,
                ["$date": "no date", "$": 1], ["$data": "!"], ["$$date": [1]], ["e\u{301}": "\u{e9}"],
            ]
            for value in values {
                try run.expectExact(value, in: "extra", "the JSON value \(value.exactForm)")
            }
        }
        StoreRule("value.json.numbers", "In JSON too, 1 is not 1.0 and great integers are exact.") { run in
            let value: ItemValue = [
                1, 1.0, .int(.max), .int(.min), 9_007_199_254_740_993, 1e300, .double(.leastNonzeroMagnitude),
            ]
            try run.expectExact(value, in: "extra", "numbers")
        }
        StoreRule("value.json.deep", "JSON may be nested fifty levels deep.") { run in
            let deep = (0..<49).reduce(ItemValue.int(1)) { value, level in
                level.isMultiple(of: 2) ? .array([value]) : .object(["a": value])
            }
            try run.expectExact(deep, in: "extra", "a value of 50 levels")
        }
        StoreRule("value.missing-null-empty", "Missing, null, empty text and empty data are four states.") {
            run in
            let items = [
                Item(id: "1"), Item(id: "2", fields: ["label": nil, "blob": nil]),
                Item(id: "3", fields: ["label": "", "blob": .data(Data())]),
                Item(id: "4", fields: ["label": ""]),
            ]
            try run.put(items)
            try run.expect(try run.find(TableQuery("Thing")).items, is: items, "the four items")
        }
        StoreRule("value.every-column", "A field of each type at once comes back whole.") { run in
            for item in Fixture.items { try run.expectExact(item, "the item '\(item.id)'") }
        }
        StoreRule("value.64k", "Values around 64 KiB are kept whole.") { run in
            for length in [4095, 4096, 65_535, 65_536, 65_537] {
                try run.expectExact(
                    .text(String(repeating: "t", count: length)), in: "label", "\(length) bytes")
                try run.expectExact(.data(Data(repeating: 7, count: length)), in: "blob", "\(length) bytes")
            }
        }
    }
}
