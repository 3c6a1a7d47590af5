// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import SyncCore

/// Items with edge cases of order and equality in each type of column that can be indexed, and queries that an index may
/// answer.
package enum IndexedItems {
    package static func table(indexed: Bool) -> SyncTableDefinition {
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
    package static let items: [Item] = values.flatMap { name, values in
        (values + [.null]).enumerated().flatMap { index, value in
            ["z", String(repeating: "i", count: 600)].enumerated().map { copy, prefix in
                Item(id: "\(prefix)\(copy * 37 % 5)\(99 - index)\(name)", fields: [name: value])
            }
        }
    }

    /// Writes all items, some of which replace earlier ones, and removes others.
    package static func fill(_ store: some SyncContextDataSource) throws {
        try store.write { transaction in
            let others = items.shuffled().prefix(50)
            let before = zip(others, items).map { Item(id: $0.id, fields: $1.fields) }
            try transaction.upsert(before, in: "Todo")
            try transaction.upsert([Item(id: "gone", fields: ["integer": 1, "text": "a"])], in: "Todo")
            try transaction.upsert(items, in: "Todo")
            try transaction.deleteItems(ids: ["gone"], in: "Todo")
        }
    }

    /// Queries whose filters restrict an indexed column.
    package static var filteredQueries: [TableQuery] {
        var filters: [Filter] = [
            .comparison(.equal, .column("integer"), .constant(1.0)), .column("integer") < 0.5,
            .column("double") == 1,
            .column("double") > Int64.max, .comparison(.less, .constant(0), .column("integer")),
            .column("integer") > -2 && .column("integer") <= 255,
            .column("integer") >= 0 && .column("text") == "a",
            .column("integer") > 1 && .column("integer") < 0,
        ]
        for (name, values) in values {
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
        return filters.enumerated().flatMap { index, filter in
            let all = TableQuery("Todo").where(filter)
            let some = [
                all.limit(3).offset(1).includingTotalCount(), all.order(byDescending: "text").limit(4),
            ]
            return index % 7 == 0 ? some : [all]
        }
    }

    /// Queries whose order is that of the indexed column that they restrict.
    package static var orderedQueries: [TableQuery] {
        values.flatMap { name, values in
            values.flatMap { value in
                Filter.Comparison.allCases.flatMap { comparison in
                    let filter = Filter.comparison(comparison, .column(name), .constant(value))
                    let all = TableQuery("Todo").where(filter).order(by: name)
                    return [
                        all.limit(0), all.limit(1), all.limit(3).offset(2),
                        all.order(byDescending: "id").limit(3),
                        all.select("id").limit(4).offset(1),
                        all.limit(2).includingTotalCount(),
                        TableQuery("Todo").where(filter).order(byDescending: name).limit(3),
                    ]
                }
            }
        }
    }
}
