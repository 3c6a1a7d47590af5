// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Inserting new and existing items.
    @RuleList static var insertions: [StoreRule] {
        StoreRule("item.insert.adds", "An insert adds a new item and returns true.") { run in
            let item = Item(
                id: "a", fields: ["label": "one", "count": nil], system: SystemProperties(version: "1"))
            try run.expect(try run.insert(item), is: true, "whether the item was added")
            try run.expect(try run.item("a"), is: item, "the new item")
            try run.expect(try run.insert(Item(id: "b")), is: true, "whether another was added")
            try run.expect(try run.ids(), is: ["a", "b"], "the table's ids")
        }
        StoreRule("item.insert.keeps", "An insert does not change an existing item and returns false.") {
            run in
            let item = Item(id: "a", fields: ["label": "old"], system: SystemProperties(version: "1"))
            try run.put([item])
            let other = Item(
                id: "a", fields: ["label": "new", "count": 1], system: SystemProperties(version: "2"))
            try run.expectUnchanged("the store after the insert") {
                try run.expect(try run.insert(other), is: false, "whether the item was added")
            }
            try run.expect(try run.insert(item), is: false, "whether the same item was added")
            try run.expect(try run.item("a"), is: item, "the item")
        }
        StoreRule("item.insert.inside", "An insert sees the earlier changes of its transaction.") { run in
            try run.put([Item(id: "old")])
            try run.store.write { transaction in
                let item = Item(id: "a", fields: ["count": 1])
                try run.expect(try transaction.insert(item, in: "Thing"), is: true, "the first insert")
                try run.expect(try transaction.insert(item, in: "Thing"), is: false, "the second insert")
                try run.expect(try transaction.item(id: "a", in: "Thing"), is: item, "the item, inside")
                try transaction.deleteItems(ids: ["a", "old"], in: "Thing")
                try run.expect(try transaction.insert(item, in: "Thing"), is: true, "after a delete")
                try transaction.upsert([Item(id: "b")], in: "Thing")
                try run.expect(
                    try transaction.insert(Item(id: "b"), in: "Thing"), is: false, "after an upsert")
                try run.expect(
                    try transaction.insert(Item(id: "old"), in: "Thing"), is: true,
                    "after deleting the old one")
            }
            try run.expect(try run.ids(), is: ["a", "b", "old"], "the table's ids")
        }
        StoreRule(
            "item.insert.own-table", "An item with the same id in another table does not prevent an insert."
        ) { run in
            try run.put([Item(id: "a", fields: ["label": "one"])], in: "Thing2")
            try run.expect(try run.insert(Item(id: "a")), is: true, "whether the item was added")
            try run.expect(try run.item("a", in: "Thing2")?["label"], is: "one", "the other item")
        }
        StoreRule("item.insert.bytes", "Ids that differ in any byte do not prevent each other's inserts.") {
            run in
            for id in ["A", "a", "a ", "e\u{301}", "\u{e9}", "1", "01", "1.0"] {
                try run.expect(
                    try run.insert(Item(id: id, fields: ["label": .text(id)])), is: true,
                    "whether \(id.exactDescription) was added")
            }
            try run.expect(try run.item("\u{e9}")?["label"], is: "\u{e9}", "the item \"\\u{e9}\"")
        }
        StoreRule("item.insert.long-id", "Ids of the maximum length are compared completely.") { run in
            let length = min(try run.store.capabilities.maxIDLength, ItemID.maxUTF8Length)
            let beginning = String(repeating: "\u{1F600}", count: (length - 1) / 4)
            for end in ["a", "b"] {
                let item = Item(id: beginning + end)
                try run.expect(try run.insert(item), is: true, "whether the id on \(end) was added")
                try run.expect(try run.insert(item), is: false, "whether it was added again")
            }
        }
        StoreRule(
            "item.insert.found",
            "Queries find inserted items and, after a refused insert, the unchanged ones."
        ) { run in
            let x = TableQuery("Thing").where(.column("mark") == "x").includingTotalCount()
            let y = TableQuery("Thing").where(.column("mark") == "y").includingTotalCount()
            _ = try run.insert(Item(id: "a", fields: ["mark": "x"]))
            try run.expect(try run.find(x).items.map(\.id), is: ["a"], "the ids with mark x")
            _ = try run.insert(Item(id: "a", fields: ["mark": "y"]))
            try run.expect(try run.find(x).totalCount, is: 1, "the number of items with mark x")
            try run.expect(try run.find(y).totalCount, is: 0, "the number of items with mark y")
        }
        StoreRule("item.insert.rollback", "An insert in a failed transaction adds nothing.") { run in
            try run.put([Item(id: "a", fields: ["mark": "x"])])
            try run.expectUnchanged("the store") {
                try? run.store.write { transaction in
                    _ = try transaction.insert(Item(id: "b", fields: ["mark": "x"]), in: "Thing")
                    _ = try transaction.insert(Item(id: "a"), in: "Thing")
                    throw AppError()
                }
            }
            try run.expect(try run.insert(Item(id: "b")), is: true, "whether the item was added afterwards")
        }
        StoreRule(
            "item.insert.unknown-table", "An insert into an undeclared table is refused."
        ) {
            run in
            for table in ["Nothing", "thing", ""] {
                try run.expect(throws: .unknownTable, "an insert into '\(table)'") {
                    _ = try run.insert(Item(id: "a"), in: table)
                }
            }
        }
    }
}

extension RuleRun {
    fileprivate func insert(_ item: Item, in table: String = "Thing") throws -> Bool {
        try store.write { try $0.insert(item, in: table) }
    }
}
