// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension StoreRule {
    private static var things: TableQuery { TableQuery("Thing") }

    /// The order of query results.
    @RuleList static var orderings: [StoreRule] {
        query(
            "order.none", "Without an ordering, items are in the order of ids.",
            (things, "a b c d e f g h i j k l m n o p"))
        StoreRule("order.id-bytes", "Ids are ordered by their UTF-8 bytes.") { run in
            let ids = ["10", "9", "B", "a", "e\u{301}", "\u{e9}", "\u{FFFD}", "\u{1F600}"]
            try run.put(ids.reversed().map { Item(id: $0) })
            try run.expect(try run.ids(), is: ids, "all ids")
            try run.expect(
                try run.find(things.order(byDescending: "id")).items.map(\.id), is: ids.reversed(),
                "descending")
        }
        query(
            "order.ascending",
            "Null and missing fields come first, then values; ties are in the order of ids.",
            (things.order(by: "count"), "e f m n o p i g d a b c l k j h"))
        query(
            "order.descending",
            "Descending reverses values and nulls; ties are still in ascending order of ids.",
            (things.order(byDescending: "count"), "h j k l c b a d g i e f m n o p"))
        query(
            "order.double", "Doubles are ordered by value; zero and negative zero are equal.",
            (things.order(by: "ratio"), "e f p h o m c d l i k a n b j g"),
            (things.order(byDescending: "ratio"), "g j b n a k i l c d m o h e f p"))
        query(
            "order.text", "Strings are ordered by their bytes.",
            (things.order(by: "label"), "e f d k i o j p b l a c h g m n"),
            (things.order(byDescending: "label"), "n m g h c a l b p j o i k d e f"))
        query(
            "order.bool", "False comes before true.",
            (things.order(by: "flag"), "e f g h i j k l m n o p b d a c"),
            (things.order(byDescending: "flag"), "a c b d e f g h i j k l m n o p"))
        query(
            "order.date", "Dates are ordered by time; of the same instant, fewer digits come first.",
            (things.order(by: "due"), "e f g h i j k l m n o p d a b c"),
            (things.order(byDescending: "due"), "c b a d e f g h i j k l m n o p"))
        query(
            "order.data", "Binary data is ordered byte by byte; a prefix comes first.",
            (things.order(by: "blob"), "e f g h i j k l m n o p c a b d"))
        query(
            "order.two-keys", "A second key orders ties of the first.",
            (things.order(by: "mark").order(byDescending: "count"), "h j k l i e f m n o p c a g b d"),
            (things.order(byDescending: "mark").order(by: "count"), "d b g a c e f m n o p i l k j h"))
        query(
            "order.id-descending", "Items can be ordered by descending id.",
            (things.order(byDescending: "id"), "p o n m l k j i h g f e d c b a"))
        query(
            "order.system", "Items can be ordered by system properties.",
            (things.order(by: "version"), "c d e f g h i j k l m n o p a b"),
            (things.order(byDescending: "updatedAt"), "b a c d e f g h i j k l m n o p"),
            (things.order(by: "deleted"), "a b c d e f g h i j k l m n o p"))
        query(
            "order.filtered", "A query may have a filter and an ordering.",
            (things.where(.column("flag") != Bool?.none).order(byDescending: "count"), "c b a d"), of: 4)
    }

    /// Limit, offset and total count.
    @RuleList static var windows: [StoreRule] {
        query(
            "window.limit", "A limit truncates the result.", (things.limit(3), "a b c"),
            (things.limit(1), "a"))
        query("window.limit-zero", "The limit 0 returns no items, but counts matches.", (things.limit(0), ""))
        query(
            "window.limit-large", "A limit beyond the end returns all items.",
            (things.limit(100), "a b c d e f g h i j k l m n o p"), (things.offset(14).limit(.max), "o p"))
        query(
            "window.offset", "An offset without a limit skips the first items.", (things.offset(13), "n o p"))
        query(
            "window.offset-beyond", "An offset beyond the end returns no items.", (things.offset(16), ""),
            (things.offset(99), ""))
        query(
            "window.both", "The offset applies before the limit.", (things.offset(2).limit(2), "c d"),
            (things.offset(15).limit(5), "p"))
        query(
            "window.ordered", "The ordering applies before the window.",
            (things.order(byDescending: "count").limit(1), "h"),
            (things.order(byDescending: "count").offset(1).limit(3), "j k l"))
        query(
            "window.filtered", "The filter applies before the window.",
            (things.where(.column("flag") == false).offset(1).limit(1), "d"), of: 2)
        query(
            "window.total", "The total count includes all matches, regardless of the window.",
            (things.where(.column("count") > 0).limit(2), "a b"),
            (things.where(.column("count") > 0).offset(6), "l"), of: 7)
        StoreRule(
            "window.pages",
            "All pages together contain every item once, in order, also when all values are equal."
        ) { run in
            let time = Fixture.timestamp("2020-01-01T00:00:00.000Z")
            let items = Fixture.series(107).map { Item(id: $0.id, system: SystemProperties(updatedAt: time)) }
            try run.put(items)
            var ids: [String] = []
            for page in 0..<11 {
                let query = things.order(by: "updatedAt").offset(page * 10).limit(10)
                ids += try run.find(query).items.map(\.id)
            }
            try run.expect(ids, is: items.map(\.id), "the ids of 11 pages")
        }
        StoreRule("window.keyset", "Keyset pages contain every item once.") { run in
            try run.put(Fixture.series(57))
            var ids: [String] = []
            while true {
                let page = try run.find(
                    things.where(.column("id") > (ids.last ?? " ")).order(by: "id").limit(10)
                )
                .items
                if page.isEmpty { break }
                ids += page.map(\.id)
            }
            try run.expect(ids, is: Fixture.series(57).map(\.id), "the ids of all pages")
        }
    }

    /// Selecting fields.
    @RuleList static var selections: [StoreRule] {
        query(
            "select.fields", "A query returns only the selected fields; null stays null.",
            (things.select("label", "count").limit(5), "a b c d e"))
        query(
            "select.id", "A query returns id and system properties also when they are not selected.",
            (things.select("label").limit(2), "a b"), (things.select("id").limit(2), "a b"))
        query(
            "select.missing", "A selected field that is missing stays missing.",
            (things.select("note", "flag").offset(4), "e f g h i j k l m n o p"))
        query(
            "select.unselected", "Filter and ordering may use fields that are not selected.",
            (things.where(.column("count") > 0).select("label").order(by: "ratio").limit(9), "h c l k a b j"),
            of: 7)
        query(
            "select.twice", "Selecting a field twice is like selecting it once.",
            (things.select("mark", "mark").limit(1), "a"))
        query(
            "select.system", "A selection may contain system properties.",
            (things.select("version").limit(3), "a b c"))
        query(
            "query.parameters", "Server parameters do not affect local queries.",
            (things.parameter("count", "1").where(.column("count") == 2), "b"), of: 1)
    }

    /// Queries on empty, large, changing and undeclared tables.
    @RuleList static var scans: [StoreRule] {
        StoreRule("query.none", "A query on an empty table returns no items.") { run in
            try run.expect(
                try run.find(things.includingTotalCount()), is: QueryResult(items: [], totalCount: 0),
                "the result")
        }
        StoreRule(
            "query.unknown-table",
            "Every item call on an undeclared table is refused."
        ) { run in
            for table in [
                "Nothing", "thing", "THING", "Thing3", "", "Thing;", "MS_TableOperations", "sqlite_master",
            ] {
                let store = try run.store
                try run.expect(throws: .unknownTable, "reading an item of '\(table)'") {
                    try store.read { try $0.item(id: "a", in: table) }
                }
                try run.expect(throws: .unknownTable, "a query on '\(table)'") {
                    try store.read { try $0.items(matching: TableQuery(table)) }
                }
                try run.expect(throws: .unknownTable, "reading columns of '\(table)'") {
                    try store.read { try $0.forEachRow(matching: TableQuery(table), columns: []) { _ in } }
                }
                try run.expect(throws: .unknownTable, "an upsert into '\(table)'") {
                    try store.write { try $0.upsert([Item(id: "a")], in: table) }
                }
                try run.expect(throws: .unknownTable, "an empty upsert into '\(table)'") {
                    try store.write { try $0.upsert([], in: table) }
                }
                try run.expect(throws: .unknownTable, "a delete in '\(table)'") {
                    try store.write { try $0.deleteItems(ids: ["a"], in: table) }
                }
                try run.expect(throws: .unknownTable, "a delete by a query on '\(table)'") {
                    try store.write { try $0.deleteItems(matching: TableQuery(table)) }
                }
            }
        }
        StoreRule("query.fresh", "A query sees every earlier change.") { run in
            let query = things.where(.column("mark") == "x").includingTotalCount()
            for round in 1...20 {
                try run.put([Item(id: Fixture.number(round), fields: ["mark": "x"])])
                try run.expect(try run.find(query).totalCount, is: round, "the count after \(round) upserts")
            }
            for round in 1...20 {
                try run.put([Item(id: Fixture.number(round), fields: ["mark": "y"])])
                try run.expect(
                    try run.find(query).items.count, is: 20 - round, "found after \(round) updates")
            }
        }
        StoreRule("query.fresh-delete", "A query does not find deleted items.") { run in
            try run.put(Fixture.series(20))
            for round in 1...20 {
                try run.delete([Fixture.number(round - 1)])
                let found = try run.find(things.where(.column("label") == "s").includingTotalCount())
                try run.expect(found.items.count, is: 20 - round, "found after \(round) deletes")
                try run.expect(found.totalCount, is: 20 - round, "counted after \(round) deletes")
            }
        }
        StoreRule("query.every-item", "A query of a large table returns every item once.") { run in
            for count in [99, 100, 101, 999, 1000, 1001, 1500] {
                try run.put(Fixture.series(count))
                try run.expect(try run.ids(), is: Fixture.series(count).map(\.id), "all \(count) ids")
            }
        }
        StoreRule("query.inside", "A query in a transaction sees the transaction's changes.") { run in
            try run.put(Fixture.items)
            try run.store.write { transaction in
                try transaction.upsert([Item(id: "z", fields: ["count": 10])], in: "Thing")
                try transaction.deleteItems(ids: ["c"], in: "Thing")
                let found = try transaction.items(
                    matching: things.where(.column("count") == 10).includingTotalCount())
                try run.expect(found.items.map(\.id), is: ["z"], "items of count 10")
                try run.expect(found.totalCount, is: 1, "their count")
            }
        }
    }
}
