// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Reading and upserting items.
    @RuleList static var items: [StoreRule] {
        StoreRule("item.get.missing", "Reading a missing id returns nil.") { run in
            try run.expect(try run.item("missing"), is: nil, "an item of an empty table")
            try run.put([Item(id: "a")])
            try run.expect(try run.item("missing"), is: nil, "an item beside another one")
        }
        StoreRule("item.get.inside", "A transaction sees its own changes of items.") { run in
            try run.store.write { transaction in
                try transaction.upsert([Item(id: "a", fields: ["count": 1])], in: "Thing")
                try run.expect(try transaction.item(id: "a", in: "Thing")?["count"], is: 1, "after an upsert")
                try transaction.upsert([Item(id: "a", fields: ["count": 2])], in: "Thing")
                try run.expect(try transaction.item(id: "a", in: "Thing")?["count"], is: 2, "after another")
                let found = try transaction.items(matching: TableQuery("Thing").where(.column("count") == 2))
                try run.expect(found.items.map(\.id), is: ["a"], "in a query")
                try transaction.deleteItems(ids: ["a"], in: "Thing")
                try run.expect(try transaction.item(id: "a", in: "Thing"), is: nil, "after a delete")
            }
        }
        StoreRule("item.get.repeats", "Reading changes nothing: the same query has the same result.") {
            run in
            try run.put(Fixture.items)
            let first = try run.find(TableQuery("Thing"))
            for _ in 0..<5 { try run.expect(try run.find(TableQuery("Thing")), is: first, "all items again") }
        }
        StoreRule("item.upsert.adds", "An upsert adds a new item.") { run in
            try run.put([Item(id: "a", fields: ["label": "one"])])
            try run.expect(try run.item("a"), is: Item(id: "a", fields: ["label": "one"]), "the new item")
            try run.expect(try run.ids(), is: ["a"], "the table's ids")
        }
        StoreRule("item.upsert.replaces-whole", "An upsert replaces the whole item.") { run in
            try run.put([Item(id: "a", fields: ["label": "old", "count": 1])])
            try run.put([Item(id: "a", fields: ["mark": "new"])])
            try run.expect(
                try run.item("a"), is: Item(id: "a", fields: ["mark": "new"]), "the replaced item")
            try run.expect(try run.ids(), is: ["a"], "the table's ids")
        }
        StoreRule("item.upsert.replaces-system", "An upsert replaces the system properties.") { run in
            try run.put([Item(id: "a", system: Self.allSystem)])
            try run.put([Item(id: "a", system: SystemProperties(version: "2"))])
            try run.expect(
                try run.item("a"), is: Item(id: "a", system: SystemProperties(version: "2")), "the item")
            try run.put([Item(id: "a")])
            try run.expect(try run.item("a"), is: Item(id: "a"), "the item without system properties")
        }
        StoreRule(
            "item.upsert.last-of-duplicates", "Of duplicate ids in one upsert, the last item is stored."
        ) { run in
            try run.put((1...3).map { Item(id: "a", fields: ["count": .int($0)]) } + [Item(id: "b")])
            try run.expect(try run.item("a")?["count"], is: 3, "the count of the last")
            try run.expect(try run.ids(), is: ["a", "b"], "the table's ids")
        }
        StoreRule("item.upsert.nothing", "An upsert of no items changes nothing.") { run in
            try run.put([Item(id: "a", fields: ["count": 1])])
            try run.expectUnchanged("the store after an empty upsert") { try run.put([Item]()) }
        }
        StoreRule("item.upsert.many", "One upsert may have any number of items.") { run in
            for count in [1, 250, 998, 999, 1000, 1001, 2500] {
                try run.delete(try run.ids())
                try run.put(Fixture.series(count))
                try run.expect(
                    try run.ids(), is: Fixture.series(count).map(\.id), "ids after an upsert of \(count)")
                let last = Fixture.series(count)[count - 1]
                try run.expect(try run.item(last.id), is: last, "the last of \(count)")
            }
        }
        StoreRule(
            "item.upsert.different-fields", "Items of one upsert may have different fields; no field is lost."
        ) { run in
            let items = [
                Item(id: "1", fields: ["label": "one"]), Item(id: "2", fields: ["count": 2, "mark": "m"]),
                Item(id: "3"), Item(id: "4", fields: ["label": nil, "flag": true]),
            ]
            try run.put(items)
            try run.expect(try run.find(TableQuery("Thing")).items, is: items, "all items")
        }
        StoreRule("item.upsert.in-order", "Later changes in a transaction override earlier ones.") { run in
            try run.store.write { transaction in
                try transaction.upsert([Item(id: "a", fields: ["count": 1])], in: "Thing")
                try transaction.deleteItems(ids: ["a"], in: "Thing")
                try transaction.upsert([Item(id: "a", fields: ["label": "back"])], in: "Thing")
                try transaction.upsert([Item(id: "b")], in: "Thing")
                try transaction.deleteItems(ids: ["b"], in: "Thing")
            }
            try run.expect(
                try run.find(TableQuery("Thing")).items, is: [Item(id: "a", fields: ["label": "back"])],
                "items")
        }
        StoreRule("item.upsert.same-again", "Upserting the same item ten times is like upserting it once.") {
            run in
            let item = Fixture.items[0]
            for _ in 0..<10 { try run.put([item]) }
            try run.expect(try run.find(TableQuery("Thing")).items, is: [item], "items")
        }
        StoreRule(
            "item.table.own",
            "Items of one table are not found in another, also when their names have the same prefix."
        ) { run in
            try run.put([Item(id: "a", fields: ["label": "one"])], in: "Thing")
            try run.put([Item(id: "2a", fields: ["label": "two"])], in: "Thing2")
            try run.put([Item(id: "a", fields: ["select": "three"])], in: "order")
            try run.expect(try run.ids("Thing"), is: ["a"], "ids of Thing")
            try run.expect(try run.ids("Thing2"), is: ["2a"], "ids of Thing2")
            try run.expect(try run.item("a", in: "Thing2"), is: nil, "Thing's item in Thing2")
            try run.expect(try run.item("a", in: "order")?["select"], is: "three", "order's own item")
        }
        StoreRule(
            "item.table.separator",
            "Table and id are separate parts of a key: id '2a' of Thing is not 'a' of Thing2."
        ) { run in
            try run.put([Item(id: "2a", fields: ["label": "one"])], in: "Thing")
            try run.expect(try run.item("a", in: "Thing2"), is: nil, "'a' of Thing2")
            try run.put([Item(id: "a", fields: ["label": "two"])], in: "Thing2")
            try run.delete(["a"], in: "Thing2")
            try run.expect(try run.ids("Thing"), is: ["2a"], "ids of Thing")
        }
        StoreRule(
            "item.table.keywords", "Tables and columns may be named like SQL keywords."
        ) { run in
            let item = Item(id: "from", fields: ["select": "where", "group": 1, "rowid": 7])
            try run.expectExact(item, in: "order", "an item of table 'order'")
            let found = try run.find(TableQuery("order").where(.column("group") == 1).order(by: "rowid"))
            try run.expect(found.items, is: [item], "found by 'group', ordered by 'rowid'")
        }
        StoreRule(
            "item.id.bytes", "Ids that differ in any byte are different, also in case or Unicode normal form."
        ) { run in
            let ids = ["A", "a", "a ", " a", "e\u{301}", "\u{e9}", "\u{212b}", "\u{c5}", "A\u{30a}"]
            try run.put(ids.enumerated().map { Item(id: $1, fields: ["count": .int(Int64($0))]) })
            for (number, id) in ids.enumerated() {
                try run.expect(
                    try run.item(id)?["count"], is: .int(Int64(number)), "the item \(id.exactDescription)")
            }
            try run.expect(
                try run.find(TableQuery("Thing")).items.count, is: ids.count, "the number of items")
        }
        StoreRule("item.id.digits", "Ids made of digits are strings: '1', '01' and '1.0' are three ids.") {
            run in
            try run.put(["1", "01", "1.0", "1e0"].map { Item(id: $0, fields: ["label": .text($0)]) })
            for id in ["1", "01", "1.0", "1e0"] {
                try run.expect(try run.item(id)?["label"], is: .text(id), "the item '\(id)'")
            }
            try run.expect(try run.ids(), is: ["01", "1", "1.0", "1e0"], "the table's ids")
        }
        StoreRule(
            "item.id.long", "Ids of 255 characters are stored completely, whatever their number of bytes."
        ) {
            run in
            let stems = ["x", "\u{e9}", "\u{20ac}", "\u{1F600}"]
            let ids = stems.flatMap { stem in
                ["y", "z"].map { String(repeating: stem, count: 254) + $0 }
            }
            try run.put(ids.enumerated().map { Item(id: $1, fields: ["count": .int(Int64($0))]) })
            for (number, id) in ids.enumerated() {
                try run.expect(
                    try run.item(id)?["count"], is: .int(Int64(number)), "id \(id.exactDescription)")
            }
            try run.expect(try run.ids(), is: ids, "the table's ids")
        }
        StoreRule(
            "item.id.common-beginning", "Ids with a common prefix of hundreds of bytes are not truncated."
        ) {
            run in
            let ids =
                (500...520).map { String(repeating: "k", count: $0 / 4) }
                + (100...255).map { String(repeating: "\u{20ac}", count: $0) }
            let distinct = Array(Set(ids)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try run.put(distinct.map { Item(id: $0, fields: ["label": .text($0)]) })
            try run.expect(try run.ids(), is: distinct, "the table's ids")
            try run.delete([distinct[distinct.count / 2]])
            try run.expect(
                try run.ids().count, is: distinct.count - 1, "the number of ids after deleting one")
        }
        StoreRule("item.system.round-trip", "System properties are stored exactly.") { run in
            try run.expectExact(Item(id: "it", system: Self.allSystem), "all system properties")
            try run.expectExact(Item(id: "it", system: SystemProperties(version: "")), "an empty version")
            try run.expectExact(
                Item(
                    id: "it", system: SystemProperties(createdAt: Fixture.timestamp("0001-01-01T00:00:00Z"))),
                "createdAt alone")
        }
        StoreRule("item.system.exact", "Versions are exact byte for byte, timestamps digit for digit.") {
            run in
            for version in ["\"AAAA\"", "e\u{301}", "a\0b", " ", "W/\"1\""] {
                try run.expectExact(
                    Item(
                        id: "it",
                        system: SystemProperties(version: version, supersededVersions: ["", version])),
                    "the version \(version.exactDescription)")
            }
            for text in ["2014-05-30T18:30:00Z", "2014-05-30T18:30:00.120Z", "2014-05-30T18:30:00.1234567Z"] {
                let time = Fixture.timestamp(text)
                try run.expectExact(
                    Item(id: "it", system: SystemProperties(createdAt: time, updatedAt: time)),
                    "the time \(text)")
            }
        }
    }

    private static var allSystem: SystemProperties {
        SystemProperties(
            createdAt: Fixture.timestamp("2014-05-30T18:30:00.12Z"),
            updatedAt: Fixture.timestamp("2015-01-01T00:00:00.1234567Z"), version: "\"7\"",
            supersededVersions: ["\"5\"", "\"6\""])
    }
}
