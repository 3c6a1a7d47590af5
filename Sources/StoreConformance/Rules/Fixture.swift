// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import SyncCore

/// The tables and items that rules use.
package enum Fixture {
    /// A table with a column of every type, a table whose name has the other's as prefix, and one named like an SQL
    /// keyword.
    package static let tables = [thing, thing2, order]

    package static let thing = SyncTableDefinition(
        "Thing",
        columns: [
            SyncColumn("flag", .bool), SyncColumn("count", .integer), SyncColumn("ratio", .double),
            SyncColumn("label", .text),
            SyncColumn("mark", .text, isIndexed: true), SyncColumn("due", .date), SyncColumn("blob", .data),
            SyncColumn("extra", .json), SyncColumn("note", .text, isLocalOnly: true),
        ])

    package static let thing2 = SyncTableDefinition(
        "Thing2", columns: [SyncColumn("label", .text), SyncColumn("count", .text)])

    package static let order = SyncTableDefinition(
        "order",
        columns: [
            SyncColumn("select", .text, isIndexed: true), SyncColumn("group", .integer),
            SyncColumn("rowid", .integer),
        ])

    /// A table of indexed columns of other types than text, which the rules about indexes open alone.
    package static let indexed = SyncTableDefinition(
        "Indexed",
        columns: [
            SyncColumn("bool", .bool, isIndexed: true), SyncColumn("integer", .integer, isIndexed: true),
            SyncColumn("double", .double, isIndexed: true), SyncColumn("date", .date, isIndexed: true),
            SyncColumn("data", .data, isIndexed: true),
        ])

    /// Items for queries: ordinary values, nulls, missing fields, and values that stores often confuse.
    package static let items: [Item] = [
        Item(
            id: "a",
            fields: [
                "flag": true, "count": 1, "ratio": 1.0, "label": "apple", "mark": "x",
                "due": date("2020-01-01T00:00:00Z"), "blob": .data(Data([1])), "extra": [1, "two"],
            ], system: SystemProperties(updatedAt: timestamp("2021-01-01T00:00:00.000Z"), version: "v1")),
        Item(
            id: "b",
            fields: [
                "flag": false, "count": 2, "ratio": 2.5, "label": "Banana", "mark": "y",
                "due": date("2020-01-01T00:00:00.000Z"), "blob": .data(Data([1, 2])),
            ], system: SystemProperties(updatedAt: timestamp("2021-01-01T00:00:00.001Z"), version: "v2")),
        Item(
            id: "c",
            fields: [
                "flag": true, "count": 10, "ratio": -0.0, "label": "cherry", "mark": "x",
                "due": date("2020-06-15T12:30:45.123Z"), "blob": .data(Data()),
            ]),
        Item(
            id: "d",
            fields: [
                "flag": false, "count": 0, "ratio": 0.0, "label": "", "mark": "y",
                "due": date("1969-12-31T23:59:58.999Z"), "blob": .data(Data([255])),
            ]),
        Item(
            id: "e",
            fields: Dictionary(uniqueKeysWithValues: thing.columns.map { ($0.name, ItemValue.null) })),
        Item(id: "f"),
        Item(id: "g", fields: ["count": -1, "ratio": 1e308, "label": "\u{e9}", "mark": "x"]),
        Item(id: "h", fields: ["count": .int(.max), "ratio": -1e308, "label": "e\u{301}"]),
        Item(id: "i", fields: ["count": .int(.min), "ratio": 0.1, "label": "10"]),
        Item(
            id: "j",
            fields: ["count": 9_007_199_254_740_993, "ratio": 9_007_199_254_740_992.0, "label": "9"]),
        Item(
            id: "k",
            fields: ["count": 9_007_199_254_740_992, "ratio": 0.30000000000000004, "label": " apple\n"]),
        Item(id: "l", fields: ["count": 100, "ratio": .double(.leastNonzeroMagnitude), "label": "a\0b"]),
        Item(id: "m", fields: ["ratio": -2.5, "label": "\u{FFFD}"]),
        Item(id: "n", fields: ["ratio": 1.5, "label": "\u{1F600}"]),
        Item(id: "o", fields: ["ratio": -7.25, "label": "100%_'\"*"]),
        Item(id: "p", fields: ["label": "APPLE", "note": "kept"]),
    ]

    package static func timestamp(_ text: String) -> Timestamp {
        guard let timestamp = Timestamp(text) else { preconditionFailure("'\(text)' is not a date.") }
        return timestamp
    }

    package static func date(_ text: String) -> ItemValue { .date(timestamp(text)) }

    package static func operation(
        _ id: Int64, _ kind: TableOperation.Kind = .update, item: String = "a", in table: String = "Thing"
    ) -> TableOperation {
        TableOperation(id: id, table: table, itemID: item, kind: kind)
    }

    package static func error(_ id: Int64, in table: String = "Thing", message: String = "no")
        -> TableOperationError
    {
        TableOperationError(
            operationID: id, table: table, itemID: "a", kind: .update, item: nil, serverItem: nil,
            status: 400,
            code: .serverError, message: message, revision: 0)
    }

    package static func key(
        _ name: String, in table: String = "Thing", _ kind: ConfigKey.Kind = .deltaToken
    ) -> ConfigKey {
        ConfigKey(table: table, kind: kind, name: name)
    }

    /// Returns items `00000`, `00001`… with their number as `count`.
    package static func series(_ count: Int) -> [Item] {
        (0..<count).map { Item(id: number($0), fields: ["count": .int(Int64($0)), "label": "s"]) }
    }

    package static func number(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    }
}
