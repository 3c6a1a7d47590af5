// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    private static let durable = StoreRequirement.declared(.durable)

    /// Values in columns that the app does not declare, or no longer declares.
    @RuleList static var columns: [StoreRule] {
        StoreRule(
            "columns.undeclared",
            "Undeclared values are stored exactly, are not fields, and are replaced with the item."
        ) { run in
            let undeclared: [String: ItemValue] = [
                "label": "the server's", "note": nil, "": 1, "e\u{301}": [1.0, .double(-0.0), ["\0": nil]],
            ]
            let system = SystemProperties(version: "1", undeclared: undeclared)
            try run.expectExact(Item(id: "it", system: system), "an item without fields")
            let item = Item(id: "it", fields: ["label": "ours", "note": "local"], system: system)
            try run.expectExact(item, "an item with fields of the same names")
            let found = try run.find(TableQuery("Thing").where(.column("label") == "the server's"))
            try run.expect(found.items, is: [], "items found by an undeclared value")
            let selected = try run.find(TableQuery("Thing").select("note")).items
            try run.expect(
                selected, is: [Item(id: "it", fields: ["note": "local"], system: system)], "a selection")
            try run.expectExact(
                Item(id: "it", system: SystemProperties(undeclared: ["x": 1])), "fewer undeclared values")
            try run.expectExact(Item(id: "it"), "none")
            for name in ["$\u{301}", "$date", "$$\u{FE0F}"] {
                let system = SystemProperties(undeclared: [name: 1])
                try run.expectExact(Item(id: "it", system: system), "a value named \(name.exactDescription)")
            }
        }
        StoreRule(
            "columns.long-names",
            "Tables and columns whose names of 128 characters differ in the last one only are different."
        ) { run in
            let name = String(repeating: "n", count: 127)
            let columns = ["a", "b"].map { SyncColumn(name + $0, .text, isIndexed: true) }
            let tables = ["a", "b"].map { SyncTableDefinition(name + $0, columns: columns) }
            try run.with("long", tables: tables) { store in
                for table in ["a", "b"] {
                    let item = Item(
                        id: table, fields: [name + "a": .text(table + "a"), name + "b": .text(table + "b")])
                    try store.write { try $0.upsert([item], in: name + table) }
                }
                for table in ["a", "b"] {
                    let all = try store.read { try $0.items(matching: TableQuery(name + table)).items }
                    try run.expect(all.map(\.id), is: [table], "the ids of one table")
                    for column in ["a", "b"] {
                        let query = TableQuery(name + table)
                            .where(.column(name + column) == (table + column))
                        let found = try store.read { try $0.items(matching: query).items }
                        try run.expect(found, is: all, "the item found by one column")
                    }
                }
            }
        }
        StoreRule(
            "columns.dropped",
            "The value of a column that is no longer declared is undeclared until it is declared again.",
            level: .durable, requirement: durable
        ) { run in
            let item = Item(id: "a", fields: ["label": "kept", "count": 1, "mark": nil])
            try run.put([item, Item(id: "b")])
            try run.reopen(tables: Self.tables(without: ["label", "mark"]))
            var read = Item(
                id: "a", fields: ["count": 1],
                system: SystemProperties(undeclared: ["label": "kept", "mark": nil]))
            try run.expect(try run.item("a"), is: read, "the item without the column")
            try run.expect(try run.find(TableQuery("Thing")).items, is: [read, Item(id: "b")], "all items")
            read["count"] = 2
            try run.expectExact(read, "the item after a change")
            try run.reopen()
            let again = Item(id: "a", fields: ["label": "kept", "count": 2, "mark": nil])
            try run.expect(try run.item("a"), is: again, "the item with the column")
            let found = try run.find(TableQuery("Thing").where(.column("label") == "kept")).items
            try run.expect(found, is: [again], "found by the column")
        }
        StoreRule(
            "columns.declared", "A newly declared column takes over its undeclared values of the right type.",
            level: .durable, requirement: durable
        ) { run in
            try run.put([Item(id: "a", fields: ["label": "old", "mark": "old"])])
            try run.reopen(tables: Self.tables(without: ["label", "mark"]))
            try run.put([
                Item(
                    id: "a",
                    system: SystemProperties(undeclared: ["label": "newer", "mark": "newer", "x": 1])),
                Item(id: "b", system: SystemProperties(undeclared: ["label": 7])),
            ])
            try run.reopen()
            let taken = Item(
                id: "a", fields: ["label": "newer", "mark": "newer"],
                system: SystemProperties(undeclared: ["x": 1]))
            try run.expect(try run.item("a"), is: taken, "the item whose values have the right type")
            let found = try run.find(TableQuery("Thing").where(.column("mark") == "newer")).items
            try run.expect(found, is: [taken], "found by the indexed column")
            try run.expect(
                try run.item("b"), is: Item(id: "b", system: SystemProperties(undeclared: ["label": 7])),
                "the item whose value has another type")
        }
        StoreRule(
            "columns.local",
            "The value of a local-only column that is no longer declared is kept, and is not undeclared.",
            level: .durable, requirement: durable
        ) { run in
            try run.put([Item(id: "a", fields: ["note": "private", "count": 1])])
            try run.reopen(tables: Self.tables(without: ["note"]))
            try run.expect(try run.item("a"), is: Item(id: "a", fields: ["count": 1]), "without the column")
            try run.expectExact(Item(id: "a", fields: ["count": 2]), "the item after a change")
            try run.reopen()
            try run.expect(
                try run.item("a"), is: Item(id: "a", fields: ["note": "private", "count": 2]),
                "with the column again")
            try run.reopen(tables: Self.tables(with: SyncColumn("offset", .double, isLocalOnly: true)))
            try run.put([
                Item(id: "a", fields: ["note": nil, "offset": -0.0]), Item(id: "b", fields: ["note": nil]),
            ])
            try run.reopen(tables: Self.tables(without: ["note"]))
            try run.expectExact(
                Item(id: "a", fields: ["ratio": -0.0, "count": nil]), "the item after another change")
            try run.reopen(tables: Self.tables(with: SyncColumn("offset", .double, isLocalOnly: true)))
            let kept: [String: ItemValue] = ["note": nil, "offset": -0.0, "ratio": -0.0, "count": nil]
            try run.expect(
                try run.item("a"), is: Item(id: "a", fields: kept),
                "null and negative zero, of a changed item")
            try run.expect(
                try run.item("b"), is: Item(id: "b", fields: ["note": nil]), "null, of an unchanged item")
        }
        StoreRule(
            "columns.remembered", "Rows in operations and errors have the declared columns.",
            level: .durable, requirement: durable
        ) { run in
            let row = Item(id: "a", fields: ["label": "kept", "count": 1])
            var operation = Fixture.operation(1)
            (operation.base, operation.serverItem, operation.deletedItem) = (row, row, row)
            operation.deletedItem?["note"] = "private"
            operation.sent = .init(kind: .update, fields: ["label": "sent", "count": 2], version: "1")
            var error = Fixture.error(1)
            error = TableOperationError(
                operationID: 1, table: error.table, itemID: "a", kind: .update, item: row, serverItem: row,
                status: 412, code: .preconditionFailed, message: "no", revision: 0)
            try run.put([operation])
            try run.put([error])
            try run.reopen(tables: Self.tables(without: ["label", "note"]))
            let moved = Item(
                id: "a", fields: ["count": 1], system: SystemProperties(undeclared: ["label": "kept"]))
            let read = try run.store.read { try $0.operation(id: 1) }
            try run.expect(read?.base, is: moved, "the base row")
            try run.expect(read?.serverItem, is: moved, "the server's row")
            try run.expect(read?.deletedItem, is: moved, "the deleted item")
            try run.expect(read?.sent?.fields, is: ["label": "sent", "count": 2], "what was sent")
            let logged = try run.store.read { try $0.operationError(operationID: 1) }
            try run.expect(logged?.item, is: moved, "the item in the log")
            try run.expect(logged?.serverItem, is: moved, "the server's row in the log")
            try run.reopen()
            let again = try run.store.read { try $0.operation(id: 1) }
            try run.expect(again?.base, is: row, "the row with the column again")
        }
    }

    /// Returns the fixture's tables, without and with some columns of `Thing`.
    private static func tables(
        without names: Set<String> = [], with added: SyncColumn...
    ) -> [SyncTableDefinition] {
        Fixture.tables.map { table in
            guard table.name == "Thing" else { return table }
            return SyncTableDefinition(
                "Thing", columns: table.columns.filter { !names.contains($0.name) } + added)
        }
    }
}
