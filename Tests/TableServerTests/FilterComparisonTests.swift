// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// Compares lists from SQLite and PostgreSQL with the oracle, which evaluates the filter row by row.
struct FilterComparisonTests {
    /// The number of seeds, each with 100 filters. The environment variable `FILTER_SEEDS` sets it.
    private static let seeds =
        0..<(ProcessInfo.processInfo.environment["FILTER_SEEDS"].flatMap(UInt64.init) ?? 8)

    @Test(arguments: seeds)
    func `a generated list contains the rows of the oracle, in its order`(_ seed: UInt64) throws {
        var generator = FilterGenerator(seed: seed)
        var columns = ColumnNames()
        for name in FilterGenerator.columns { columns.add(name) }
        let storages = try RowsOnEachStorage(generator.rows(40))
        let rows = try storages.rows()
        try storages.check { try $0.allRows() == rows }
        var matchCount = 0
        for _ in 0..<100 {
            let (filter, ordering) = (generator.condition(), generator.ordering())
            let query = RowQuery(
                filter: try ODataParser.parse(filter, columns: columns),
                ordering: ordering.isEmpty ? [] : try ODataOrdering.parse(ordering, columns: columns),
                includesDeleted: generator.includesDeleted())
            let matches = query.matches(in: rows)
            let window = generator.window()
            let expected = matches.dropFirst(window.offset).prefix(window.limit).map(\.id)
            try storages.check("\(filter), ordered by '\(ordering)'") { rows in
                let found = try rows.rows(query, offset: window.offset, limit: window.limit).map(\.id)
                return try found == Array(expected) && rows.count(query) == matches.count
            }
            matchCount += matches.count
        }
        #expect(matchCount > 200, "The generated filters have too few matches.")
    }
}

extension RowQuery {
    /// Returns the rows of the list, evaluated row by row.
    fileprivate func matches(in rows: [TableRow]) -> [TableRow] {
        let matches = rows.filter { row in
            (includesDeleted || !row.deleted) && filter?.matches(row) != false
        }
        return ordering.isEmpty ? matches : ordering.sort(matches)
    }
}
