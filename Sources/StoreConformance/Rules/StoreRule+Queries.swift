// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension StoreRule {
    /// Creates a rule about the matches of filters in ``Fixture/items``: pairs of a filter and the ids of its matches.
    static func filters(
        _ id: String, _ sentence: String, _ cases: (Filter, finds: String)..., level: StoreLevel = .core
    ) -> StoreRule {
        let cases = cases.map { (TableQuery("Thing").where($0.0), $0.finds) }
        return StoreRule(id, sentence, level: level) { run in
            try run.putItemsOutOfOrder()
            for (query, finds) in cases { try run.expect(query, finds: finds) }
        }
    }

    /// Creates a rule about the ordering and the window of queries on ``Fixture/items``.
    static func query(
        _ id: String, _ sentence: String, _ cases: (TableQuery, finds: String)..., of total: Int = 16
    ) -> StoreRule {
        StoreRule(id, sentence) { run in
            try run.putItemsOutOfOrder()
            for (query, finds) in cases { try run.expect(query, finds: finds, of: total) }
        }
    }
}

extension RuleRun {
    /// Stores ``Fixture/items`` in random order, and items of another table that no query may find.
    func putItemsOutOfOrder() throws {
        var random = SeededGenerator(seed: seed)
        let items = Fixture.items.shuffled(using: &random)
        try put(items)
        try put(items.map { Item(id: $0.id, fields: ["label": "other"]) }, in: "Thing2")
    }

    /// Expects the query to return these items of ``Fixture/items``, complete and in this order, with the right total
    /// count.
    func expect(_ query: TableQuery, finds ids: String, of total: Int? = nil) throws {
        let expected = ids.split(separator: " ").map(String.init)
        let found = try find(query)
        try expect(found.items.map(\.id), is: expected, "ids of \(query.outline)")
        try expect(found.totalCount, is: nil, "the total count of a query that does not request it")
        let items = expected.compactMap { id in Fixture.items.first { $0.id == id } }
        try expect(found.items, is: items.map(query.selecting), "items of \(query.outline)")
        let counted = try find(query.includingTotalCount())
        try expect(counted.items.map(\.id), is: expected, "ids of \(query.outline), counting")
        try expect(counted.totalCount, is: total ?? expected.count, "total count of \(query.outline)")
        try expectRows(of: query.includingTotalCount(), items, of: total ?? expected.count)
    }

    /// Expects that reading columns of the query's rows reads these items.
    func expectRows(of query: TableQuery, _ items: [Item], of total: Int) throws {
        let columns = Array(Fixture.thing.columns.map(\.name).reversed())
        let found = try rows(query, columns)
        try expect(
            found.rows.exactDescription,
            is: items.map { RowValues($0, columns: columns) }.exactDescription, "the rows of \(query.outline)"
        )
        try expect(found.totalCount, is: total, "total count of the rows of \(query.outline)")
    }
}
