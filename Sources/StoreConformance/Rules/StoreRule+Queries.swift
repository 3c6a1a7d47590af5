// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension StoreRule {
    /// A rule about what filters find among ``Fixture/items``: pairs of a filter and the ids of what matches.
    static func filters(
        _ id: String, _ sentence: String, _ cases: (Filter, finds: String)..., level: StoreLevel = .core
    ) -> StoreRule {
        let cases = cases.map { (TableQuery("Thing").where($0.0), $0.finds) }
        return StoreRule(id, sentence, level: level) { run in
            try run.putItemsOutOfOrder()
            for (query, finds) in cases { try run.expect(query, finds: finds) }
        }
    }

    /// A rule about the order and the window of what a query finds among ``Fixture/items``.
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
    /// Puts ``Fixture/items`` in an order of no meaning, and others beside them that no query may find.
    func putItemsOutOfOrder() throws {
        var random = SeededGenerator(seed: seed)
        let items = Fixture.items.shuffled(using: &random)
        try put(items)
        try put(items.map { Item(id: $0.id, fields: ["label": "other"]) }, in: "Thing2")
    }

    /// The query finds those items of ``Fixture/items``, in that order, each whole, and counts them right.
    func expect(_ query: TableQuery, finds ids: String, of total: Int? = nil) throws {
        let expected = ids.split(separator: " ").map(String.init)
        let found = try find(query)
        try expect(found.items.map(\.id), is: expected, "ids of \(query.outline)")
        try expect(found.totalCount, is: nil, "the total count that nobody asked for")
        let items = expected.compactMap { id in Fixture.items.first { $0.id == id } }
        try expect(found.items, is: items.map(query.selecting), "items of \(query.outline)")
        let counted = try find(query.includingTotalCount())
        try expect(counted.items.map(\.id), is: expected, "ids of \(query.outline), counting")
        try expect(counted.totalCount, is: total ?? expected.count, "total count of \(query.outline)")
    }
}
