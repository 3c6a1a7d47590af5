// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension StoreRule {
    private static var indexed: TableQuery { TableQuery(Fixture.indexed.name) }

    /// Queries on indexed columns of other types than text. The reference implementation has the expected results.
    @RuleList static var indexes: [StoreRule] {
        comparing("query.indexed.bool", "Comparisons find both values of an indexed Boolean.", "bool")
        comparing(
            "query.indexed.integer",
            "Comparisons find every value of an indexed integer, also negative and large ones.",
            "integer", with: [-0.5, 0.5, -9.3e18, 9.3e18])
        comparing(
            "query.indexed.double",
            "Comparisons find every value of an indexed double, also negative ones and fractions.",
            "double", with: [-1, 0, 1, 9_007_199_254_740_992])
        comparing(
            "query.indexed.date",
            "Comparisons find every value of an indexed date, also before 1970 and after 2038.", "date")
        comparing(
            "query.indexed.data",
            "Comparisons find every value of indexed binary data, also with zero bytes and as text.", "data")
        StoreRule(
            "order.indexed", "The order by an indexed column of any type is that of its values, nulls first."
        ) { run in
            for column in Fixture.indexed.columns.map(\.name) {
                let (store, items) = try run.openIndexed(column)
                try store.read { snapshot in
                    for order in [indexed.order(by: column), indexed.order(byDescending: column)] {
                        for query in [order, order.limit(5), order.offset(2).limit(5)] {
                            try run.expect(query, in: snapshot, of: items)
                        }
                    }
                }
            }
        }
        StoreRule(
            "order.indexed.filtered",
            "A filter, an order by the same indexed column and a limit return the first matches."
        ) { run in
            for column in Fixture.indexed.columns.map(\.name) {
                let (store, items) = try run.openIndexed(column)
                try store.read { snapshot in
                    for filter in Self.filters(of: column, with: CorpusValues.indexed[column] ?? []) {
                        let query = indexed.where(filter).limit(3)
                        try run.expect(query.order(by: column), in: snapshot, of: items)
                        try run.expect(query.order(byDescending: column), in: snapshot, of: items)
                    }
                }
            }
        }
    }

    /// Creates a rule that compares the column with all its values and with other constants.
    private static func comparing(
        _ id: String, _ sentence: String, _ column: String, with others: [ItemValue] = []
    ) -> StoreRule {
        StoreRule(id, sentence) { run in
            let filters = Self.filters(of: column, with: (CorpusValues.indexed[column] ?? []) + others)
            let (store, items) = try run.openIndexed(column)
            let changed = zip(items, items.reversed()).map { Item(id: $0.id, fields: $1.fields) }
            // The second time, the index must find the items by their new values.
            for stored in [items, changed] {
                try store.write { try $0.upsert(stored, in: Fixture.indexed.name) }
                try store.read { snapshot in
                    for filter in filters {
                        let query = indexed.where(filter).includingTotalCount()
                        try run.expect(query, in: snapshot, of: stored)
                    }
                }
            }
        }
    }

    /// Returns every comparison of the column with each constant, and its membership in a list of the constant.
    private static func filters(of column: String, with constants: [ItemValue]) -> [Filter] {
        constants.flatMap { (constant) -> [Filter] in
            var filters = Filter.Comparison.allCases.map {
                Filter.comparison($0, .column(column), .constant(constant))
            }
            filters.append(.membership(.column(column), [constant]))
            return filters
        }
    }
}

extension RuleRun {
    /// Opens a store with an item for each value of the column, one with null and one without the field, in random order.
    fileprivate func openIndexed(
        _ column: String
    ) throws -> (store: any SyncContextDataSource, items: [Item]) {
        let store = try open("indexed-\(column)", tables: [Fixture.indexed])
        var random = SeededGenerator(seed: seed)
        var fields: [[String: ItemValue]] = [[:], [column: .null]]
        for value in CorpusValues.indexed[column] ?? [] { fields.append([column: value]) }
        fields.shuffle(using: &random)
        let items = fields.enumerated().map { Item(id: Fixture.number($0), fields: $1) }
        try store.write { try $0.upsert(items, in: Fixture.indexed.name) }
        return (store, items)
    }

    /// Expects the query to return the same ids and the same total count as the reference implementation, also by rows.
    fileprivate func expect(
        _ query: TableQuery, in snapshot: any StoreSnapshot, of items: [Item]
    ) throws {
        let expected = query.apply(to: items)
        let ids = expected.items.map(\.id)
        let found = try snapshot.items(matching: query)
        try expect(found.items.map(\.id), is: ids, "ids of \(query.outline)")
        try expect(found.totalCount, is: expected.totalCount, "total count of \(query.outline)")
        let rows = try snapshot.rows(matching: query, columns: Fixture.indexed.columns.map(\.name)).rows
        try expect(rows.map(\.id), is: ids, "ids of the rows of \(query.outline)")
    }
}
