// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    private static var things: TableQuery { TableQuery("Thing") }

    /// Reading columns of rows. The rules about queries also check the rows of each query.
    @RuleList static var rows: [StoreRule] {
        StoreRule(
            "rows.columns",
            "Reading columns returns the values, ids and system properties of a query's items."
        ) {
            run in
            try run.putItemsOutOfOrder()
            let all = Fixture.items
            try run.expectRows(of: things.includingTotalCount(), all, of: all.count)
            let rated = things.where(.not(.isNull(.column("ratio"))))
            let window = rated.order(byDescending: "ratio").offset(2).limit(4)
            let found = try run.find(rated.order(byDescending: "ratio")).items
            try run.expectRows(
                of: window.includingTotalCount(), Array(found.dropFirst(2).prefix(4)), of: found.count)
            try run.expect(
                try run.rows(things.limit(2), ["mark", "flag"]).rows.map(\.values),
                is: [["x", true], ["y", false]], "two columns")
            try run.expect(
                try run.rows(things.limit(2), []).rows.map(\.values), is: [[], []], "no columns")
            try run.expect(
                try run.rows(things.limit(2), ["mark"]).totalCount, is: nil,
                "the total count of rows that are not counted")
        }
        StoreRule("rows.selection", "The query's selection does not limit the columns.") { run in
            try run.putItemsOutOfOrder()
            try run.expect(
                try run.rows(things.select("label").limit(1), ["label", "mark"]).rows.map(\.values),
                is: [["apple", "x"]], "the rows")
        }
        StoreRule("rows.error", "An error of the body ends the reading of columns and is rethrown unchanged.")
        { run in
            try run.putItemsOutOfOrder()
            for query in [things, things.order(byDescending: "count"), things.where(.column("mark") == "x")] {
                var ids: [String] = []
                try run.expectError(
                    "AppError(2)", "reading columns by \(query.outline)",
                    {
                        try run.rows(query, ["label"]) { row in
                            ids.append(row.id)
                            if ids.count == 2 { throw AppError(2) }
                        }
                    }
                ) {
                    $0 as? AppError == AppError(2)
                }
                try run.expect(
                    ids, is: try run.find(query).items.prefix(2).map(\.id), "the ids until the error")
            }
        }
    }
}
