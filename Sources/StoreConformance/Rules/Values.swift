// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Values are stored exactly.
    @RuleList static var values: [StoreRule] {
        StoreRule("value.null", "Null and a missing field are different.") { run in
            for column in Fixture.thing.columns {
                try run.expectExact(.null, in: column.name, "null in '\(column.name)'")
            }
            try run.expectExact(Item(id: "it"), "an item without fields")
        }
        StoreRule("value.bool", "Booleans stay Booleans.") { run in
            try run.expectExact(true, in: "flag", "true")
            try run.expectExact(false, in: "flag", "false")
        }
        StoreRule("value.integer", "64-bit integers are exact from the minimum to the maximum.") { run in
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
        StoreRule(
            "value.text", "Strings are exact byte for byte: case, white space, Unicode normal form, NUL."
        ) { run in
            for text in [
                "", " ", " x \n", "\t", "a\0b", "\0", "Case", "e\u{301}", "\u{e9}", "\u{FEFF}x", "\u{2028}",
                "\u{10FFFF}", "1", "1.0", "true", "null", "2014-05-30T18:30:00Z", "\r\n",
            ] {
                try run.expectExact(.text(text), in: "label", "the text \(text.exactDescription)")
            }
        }
        StoreRule("value.text.indexed", "Strings in indexed and local columns are exact.") { run in
            for text in ["", " x ", "a\0b", "e\u{301}", String(repeating: "long ", count: 500)] {
                try run.expectExact(.text(text), in: "mark", "indexed \(text.exactDescription)")
                try run.expectExact(.text(text), in: "note", "local \(text.exactDescription)")
            }
        }
        StoreRule(
            "value.indexed.long",
            "Long values of indexed columns are exact and found, although an index may not compress them."
        ) { run in
            var random = SeededGenerator(seed: run.seed)
            for length in [3000, 9000, 70_000] {
                let bytes = Data((0..<length / 4 * 3).map { _ in UInt8(truncatingIfNeeded: random.next()) })
                let text = bytes.base64EncodedString()
                // They differ in the last character only.
                let items = ["~", "}"].map { Item(id: $0, fields: ["mark": .text(text + $0)]) }
                try run.put(items)
                for item in items {
                    let query = TableQuery("Thing").where(.column("mark") == (item["mark"]?.textValue ?? ""))
                    try run.expect(
                        try run.find(query).items, is: [item], "the item found by \(length) characters")
                }
                try run.expect(
                    try run.find(TableQuery("Thing").order(by: "mark")).items, is: items.reversed(),
                    "the items in the order of \(length) characters")
            }
        }
        StoreRule("value.date", "Dates keep all their fraction digits.") { run in
            for text in [
                "2014-05-30T18:30:00Z", "2014-05-30T18:30:00.0Z", "2014-05-30T18:30:00.000Z",
                "2014-05-30T18:30:00.705Z", "2014-05-30T18:30:00.7050001Z", "1969-12-31T23:59:59.999Z",
                "0001-01-01T00:00:00.000000001Z", "9999-12-31T23:59:59.999999999Z", "2000-02-29T12:00:00.12Z",
            ] {
                try run.expectExact(Fixture.date(text), in: "due", "the date \(text)")
            }
        }
        StoreRule("value.data", "Binary data may contain any bytes, or none.") { run in
            let samples = [
                Data(), Data([0]), Data(0...255), Data("text".utf8), Data(repeating: 0, count: 1000),
            ]
            for data in samples {
                try run.expectExact(.data(data), in: "blob", "data \(data.exactDescription)")
            }
        }
        StoreRule(
            "value.json", "Nested arrays and objects are stored with their values and types."
        ) { run in
            let values: [ItemValue] = [
                [], [:], [nil, true, 0, 0.0, .double(-0.0), "", [[]]], ["": ["a": ["b": nil]]], true, "text",
                7, 0.5,
                ["$date": "no date", "$": 1], ["$data": "!"], ["$$date": [1]], ["$\u{301}": "\u{301}"],
                ["e\u{301}": "\u{e9}"],
            ]
            for value in values {
                try run.expectExact(value, in: "extra", "the JSON value \(value.exactDescription)")
            }
        }
        StoreRule("value.json.numbers", "In JSON, 1 is not 1.0, and large integers are exact.") { run in
            let value: ItemValue = [
                1, 1.0, .int(.max), .int(.min), 9_007_199_254_740_993, 1e300, .double(.leastNonzeroMagnitude),
            ]
            try run.expectExact(value, in: "extra", "numbers")
        }
        StoreRule("value.json.deep", "JSON may have fifty levels.") { run in
            let deep = (0..<49).reduce(ItemValue.int(1)) { value, level in
                level.isMultiple(of: 2) ? .array([value]) : .object(["a": value])
            }
            try run.expectExact(deep, in: "extra", "a value of 50 levels")
        }
        StoreRule(
            "value.missing-null-empty",
            "Missing, null, empty string and empty data are four different states."
        ) {
            run in
            let items = [
                Item(id: "1"), Item(id: "2", fields: ["label": nil, "blob": nil]),
                Item(id: "3", fields: ["label": "", "blob": .data(Data())]),
                Item(id: "4", fields: ["label": ""]),
            ]
            try run.put(items)
            try run.expect(try run.find(TableQuery("Thing")).items, is: items, "the four items")
        }
        StoreRule("value.every-column", "An item with a field of each type is stored exactly.") { run in
            for item in Fixture.items { try run.expectExact(item, "the item '\(item.id)'") }
        }
        StoreRule("value.64k", "Values of about 64 KiB are stored exactly.") { run in
            for length in [4095, 4096, 65_535, 65_536, 65_537] {
                try run.expectExact(
                    .text(String(repeating: "t", count: length)), in: "label", "\(length) bytes")
                try run.expectExact(.data(Data(repeating: 7, count: length)), in: "blob", "\(length) bytes")
            }
        }
    }
}
