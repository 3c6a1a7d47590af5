// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    private static let durable = StoreRequirement.declared(.durable)

    /// Columns that are declared otherwise than at the last opening.
    @RuleList static var columnChanges: [StoreRule] {
        StoreRule(
            "columns.case",
            "A table or column whose name differs in case only from a stored one is refused with schemaMismatch.",
            level: .durable, requirement: durable
        ) { run in
            let table = SyncTableDefinition("Names", columns: [SyncColumn("label", .text)])
            let item = Item(id: "a", fields: ["label": "kept"])
            try run.with("names", tables: [table]) { store in
                try store.write { try $0.upsert([item], in: "Names") }
            }
            let column = SyncTableDefinition("Names", columns: [SyncColumn("Label", .text)])
            try run.expect(throws: .schemaMismatch, "opening with the column 'Label'") {
                try run.open("names", tables: [column])
            }
            let other = SyncTableDefinition("names", columns: table.columns)
            try run.expect(throws: .schemaMismatch, "opening with the table 'names'") {
                try run.open("names", tables: [other])
            }
            try run.with("names", tables: [table]) { store in
                try run.expect(
                    try store.read { try $0.item(id: "a", in: "Names") }, is: item,
                    "the item as it was declared")
            }
        }
        StoreRule(
            "columns.index-again", "An index that is declared again finds what was written without it.",
            level: .durable, requirement: durable
        ) { run in
            try run.put([Item(id: "a", fields: ["mark": "x"]), Item(id: "b", fields: ["mark": "x"])])
            try run.reopen(tables: tables(replacing: SyncColumn("mark", .text)))
            let changed = Item(id: "a", fields: ["mark": "y"])
            let added = Item(id: "c", fields: ["mark": "x"])
            try run.put([changed, added])
            try run.reopen()
            let x = try run.find(TableQuery("Thing").where(.column("mark") == "x")).items.map(\.id)
            try run.expect(x, is: ["b", "c"], "found by the value of an item that was added")
            let y = try run.find(TableQuery("Thing").where(.column("mark") == "y")).items
            try run.expect(y, is: [changed], "found by the new value of an item")
        }
        StoreRule(
            "columns.synced",
            "A column that becomes local-only keeps its values, and the server's return when it is synced again.",
            level: .durable, requirement: durable
        ) { run in
            let row = Item(id: "a", fields: ["label": "server", "count": 1])
            var operation = Fixture.operation(1)
            operation.base = row
            try run.put([row, Item(id: "b")])
            try run.put([operation])
            try run.reopen(tables: tables(replacing: SyncColumn("label", .text, isLocalOnly: true)))
            let undeclared = SystemProperties(undeclared: ["label": "server"])
            try run.expect(
                try run.item("a"), is: Item(id: "a", fields: row.fields, system: undeclared),
                "the item with the local-only column")
            try run.expect(
                try run.store.read { try $0.operation(id: 1)?.base },
                is: Item(id: "a", fields: ["count": 1], system: undeclared), "the base row")
            try run.put([
                Item(id: "a", fields: ["label": "local", "count": 1], system: undeclared),
                Item(id: "b", fields: ["label": "local"]),
            ])
            try run.reopen()
            try run.expect(try run.item("a"), is: row, "the item with the synced column")
            try run.expect(
                try run.item("b"), is: Item(id: "b", fields: ["label": "local"]),
                "an item without a value of the server")
            try run.expect(
                try run.store.read { try $0.operation(id: 1)?.base }, is: row, "the base row again")
        }
        StoreRule(
            "columns.tokens", "A change of a table's synced columns removes its delta tokens, and no others.",
            level: .durable, requirement: durable
        ) { run in
            let (token, other) = (Fixture.key("all"), Fixture.key("all", in: "Thing2"))
            try run.set("token", for: token)
            try run.set("token", for: other)
            try run.reopen(tables: tables(replacing: SyncColumn("mark", .text)))
            try run.expect(try run.config(token), is: "token", "the token after a change of an index")
            try run.reopen(tables: tables(replacing: SyncColumn("label", .text, isLocalOnly: true)))
            try run.expect(try run.config(token), is: nil, "the token after a change of a column")
            try run.expect(try run.config(other), is: "token", "the token of another table")
        }
    }

    /// Returns the fixture's tables with another declaration of a column of `Thing`.
    private static func tables(replacing column: SyncColumn) -> [SyncTableDefinition] {
        Fixture.tables.map { table in
            guard table.name == "Thing" else { return table }
            return SyncTableDefinition(
                "Thing", columns: table.columns.map { $0.name == column.name ? column : $0 })
        }
    }
}
