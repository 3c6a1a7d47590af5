// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Deleting items, by id and by query.
    @RuleList static var deletions: [StoreRule] {
        StoreRule("delete.ids.removes", "A deleted item is not found by its id or by queries.") { run in
            try run.put(Fixture.items)
            try run.delete(["c", "a"])
            try run.expect(try run.item("a"), is: nil, "the first")
            try run.expect(try run.item("c"), is: nil, "the second")
            try run.expect(try run.ids().joined(), is: "bdefghijklmnop", "the remaining ids")
            try run.expect(
                try run.find(TableQuery("Thing").where(.column("label") == "apple")).items, is: [], "a query")
        }
        StoreRule(
            "delete.ids.missing", "Deleting missing ids is not an error; the existing ones are deleted."
        ) {
            run in
            try run.delete(["missing"])
            try run.put([Item(id: "a"), Item(id: "b")])
            try run.delete(["missing", "a", "a"])
            try run.expect(try run.ids(), is: ["b"], "the remaining ids")
        }
        StoreRule("delete.ids.again", "Deleting the same id ten times is like deleting it once.") { run in
            try run.put([Item(id: "a"), Item(id: "b")])
            for _ in 0..<10 { try run.delete(["a"]) }
            try run.expect(try run.ids(), is: ["b"], "the remaining ids")
        }
        StoreRule("delete.ids.nothing", "Deleting no ids changes nothing.") { run in
            try run.put([Item(id: "a")])
            try run.expectUnchanged("the store after deleting no ids") { try run.delete([]) }
        }
        StoreRule("delete.ids.exact", "Only the exact id is deleted, not a similar one.") { run in
            let ids = ["A", "a", "a ", "ab", "e\u{301}", "\u{e9}", "%", "_"]
            try run.put(ids.map { Item(id: $0) })
            try run.delete(["a", "\u{e9}", "%"])
            try run.expect(try run.ids(), is: ["A", "_", "a ", "ab", "e\u{301}"], "the remaining ids")
        }
        StoreRule("delete.ids.own-table", "A delete does not affect the same id in other tables.") { run in
            for table in ["Thing", "Thing2", "order"] { try run.put([Item(id: "a")], in: table) }
            try run.delete(["a"], in: "Thing")
            try run.expect(try run.ids("Thing"), is: [], "ids of Thing")
            try run.expect(try run.ids("Thing2"), is: ["a"], "ids of Thing2")
            try run.expect(try run.ids("order"), is: ["a"], "ids of order")
        }
        StoreRule("delete.ids.many", "One call may delete any number of ids.") { run in
            for count in [998, 999, 1000, 1001, 2500] {
                try run.put(Fixture.series(count + 1))
                try run.delete(Fixture.series(count).map(\.id))
                try run.expect(
                    try run.ids(), is: [Fixture.number(count)], "the remaining ids of \(count + 1)")
            }
        }
        StoreRule("delete.then-upsert", "An item upserted after a delete has no fields of the old one.") {
            run in
            try run.put([Fixture.items[0]])
            try run.delete(["a"])
            try run.put([Item(id: "a", fields: ["count": 5])])
            try run.expect(try run.item("a"), is: Item(id: "a", fields: ["count": 5]), "the new item")
        }
        StoreRule(
            "delete.leaves-queue", "Deleting items does not affect operations, errors and config values."
        ) { run in
            try run.put([Item(id: "a")])
            try run.put([Fixture.operation(1)])
            try run.put([Fixture.error(1)])
            try run.set("v", for: Fixture.key("k"))
            try run.store.write { transaction in
                try transaction.deleteItems(ids: ["a"], in: "Thing")
                try transaction.deleteItems(matching: TableQuery("Thing"))
            }
            try run.expect(try run.queue(), is: [1], "the queue")
            let errors = try run.store.read { try $0.operationErrors(in: nil).map(\.operationID) }
            try run.expect(errors, is: [1], "the error log")
            try run.expect(try run.config(Fixture.key("k")), is: "v", "the config value")
        }
        Self.queryDeletion(
            "delete.query.matching", "A delete by query removes exactly the matches.",
            TableQuery("Thing").where(.column("flag") == true), removes: "a c")
        Self.queryDeletion(
            "delete.query.all", "A delete by a query without a filter empties the table.",
            TableQuery("Thing"),
            removes: "a b c d e f g h i j k l m n o p")
        Self.queryDeletion(
            "delete.query.none", "A delete by query without matches removes nothing.",
            TableQuery("Thing").where(.column("label") == "missing"), removes: "")
        Self.queryDeletion(
            "delete.query.window", "A delete by query removes only the items of its window.",
            TableQuery("Thing").order(byDescending: "count").offset(1).limit(2), removes: "j k")
        Self.queryDeletion(
            "delete.query.limit", "A delete by query with only a limit uses the order of ids.",
            TableQuery("Thing").limit(3), removes: "a b c")
        Self.queryDeletion(
            "delete.query.offset", "A delete by query with only an offset keeps the first items.",
            TableQuery("Thing").offset(14), removes: "o p")
        Self.queryDeletion(
            "delete.query.limit-zero", "A delete by query with the limit 0 removes nothing.",
            TableQuery("Thing").limit(0), removes: "")
        Self.queryDeletion(
            "delete.query.null", "A delete by query handles null as the query does.",
            TableQuery("Thing").where(.column("flag") != true), removes: "b d")
        StoreRule("delete.query.own-table", "A delete by query does not affect other tables.") { run in
            for table in ["Thing", "Thing2"] {
                try run.put([Item(id: "a", fields: ["label": "x"])], in: table)
            }
            try run.store.write {
                _ = try $0.deleteItems(matching: TableQuery("Thing").where(.column("label") == "x"))
            }
            try run.expect(try run.ids("Thing"), is: [], "ids of Thing")
            try run.expect(try run.ids("Thing2"), is: ["a"], "ids of Thing2")
        }
    }

    private static func queryDeletion(
        _ id: String, _ sentence: String, _ query: TableQuery, removes ids: String
    ) -> StoreRule {
        let removed = ids.split(separator: " ").map(String.init)
        return StoreRule(id, sentence) { run in
            try run.put(Fixture.items)
            let count = try run.store.write { try $0.deleteItems(matching: query) }
            try run.expect(count, is: removed.count, "the number of items removed by \(query.outline)")
            let rest = Fixture.items.map(\.id).filter { !removed.contains($0) }
            try run.expect(try run.ids(), is: rest, "the remaining ids after deleting \(query.outline)")
        }
    }
}
