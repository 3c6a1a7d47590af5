// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Openings of one store that declare different columns, as during an update of the app.
    @RuleList static var sharedColumns: [StoreRule] {
        StoreRule(
            "capability.multi-process.columns",
            "An opening does not see columns that only another declares, and its writes keep their values.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let fewer = SharedColumns.fewerTables
            let narrow = try run.open("added", tables: fewer)
            try SharedColumns(run, wide: try run.open("added"), narrow: narrow).check("opened later")
            let wide = try run.open("removed")
            try SharedColumns(run, wide: wide, narrow: try run.open("removed", tables: fewer))
                .check("opened first")
        }
    }
}

/// Two openings, one of which declares fewer columns of `Thing`.
private struct SharedColumns {
    private let run: RuleRun
    private let wide: any SyncContextDataSource
    private let narrow: any SyncContextDataSource

    /// The tables without an indexed, an unindexed and a local-only column of `Thing`.
    static let fewerTables = Fixture.tables.map { table in
        guard table.name == "Thing" else { return table }
        let columns = table.columns.filter { !["label", "mark", "note"].contains($0.name) }
        return SyncTableDefinition("Thing", columns: columns)
    }

    init(_ run: RuleRun, wide: any SyncContextDataSource, narrow: any SyncContextDataSource) {
        (self.run, self.wide, self.narrow) = (run, wide, narrow)
    }

    func check(_ order: String) throws {
        let values: [String: ItemValue] = ["label": "l", "mark": "m", "note": "n"]
        let all = values.merging(["count": 1]) { $1 }
        try wide.write {
            try $0.upsert([Item(id: "a", fields: all), Item(id: "b", fields: ["mark": "m"])], in: "Thing")
        }
        let other = "of the opening that declares more columns and was \(order)"
        try expect("a", ["count": 1], in: narrow, "read without the columns \(other)")
        try change("a", ["count": 2], in: narrow)
        try expect("a", ["count": 2], in: narrow, "after a write without the columns \(other)")
        try expect(
            "a", values.merging(["count": 2]) { $1 }, in: wide, "after a write without the columns \(other)")
        try expectMarked(["a", "b"], "after a write without the columns \(other)")

        _ = try narrow.write { try $0.insert(Item(id: "c", fields: ["count": 3]), in: "Thing") }
        try expect("c", ["count": 3], in: wide, "inserted without the columns \(other)")
        try change("c", ["mark": "m"], in: wide)
        try expect("c", ["count": 3], in: narrow, "changed in a column \(other)")
        try expectMarked(["a", "b", "c"], "after a change in a column \(other)")

        try narrow.write { try $0.deleteItems(ids: ["a", "b"], in: "Thing") }
        try expectMarked(["c"], "after a deletion without the columns \(other)")
        try narrow.write { try $0.upsert([Item(id: "a", fields: ["count": 4])], in: "Thing") }
        try expect("a", ["count": 4], in: wide, "added again without the columns \(other)")
    }

    /// Changes fields of an item, as the app does: reads the item and replaces it in one transaction.
    private func change(
        _ id: String, _ fields: [String: ItemValue], in store: any SyncContextDataSource
    ) throws {
        try store.write { transaction in
            var item = try transaction.item(id: id, in: "Thing") ?? Item(id: id)
            item.fields.merge(fields) { $1 }
            try transaction.upsert([item], in: "Thing")
        }
    }

    /// Expects the fields of the item, read by its id and by a query. Values of columns that the store no longer syncs may
    /// be undeclared values too.
    private func expect(
        _ id: String, _ fields: [String: ItemValue], in store: any SyncContextDataSource, _ subject: String
    ) throws {
        let (item, found) = try store.read { snapshot in
            let query = TableQuery("Thing").where(.column("id") == id)
            return (try snapshot.item(id: id, in: "Thing"), try snapshot.items(matching: query).items)
        }
        try run.expect(item?.fields, is: fields, "the item '\(id)' \(subject)")
        try run.expect(found.map(\.fields), is: [fields], "the item '\(id)' in a query, \(subject)")
    }

    /// Expects the items that the opening with more columns finds by an indexed column.
    private func expectMarked(_ ids: [String], _ subject: String) throws {
        let query = TableQuery("Thing").where(.column("mark") == "m")
        try run.expect(
            try wide.read { try $0.items(matching: query).items.map(\.id) }, is: ids,
            "the items found by an indexed column \(subject)")
    }
}
