// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Errors in windows, counts and selections.
    @MutantList static var windows: [StoreMutant] {
        StoreMutant(
            .query, "no-limit", "The limit is ignored.", killedBy: "window.limit", "window.limit-zero",
            "select.fields", "select.id", "select.twice", "select.system", message: "limit 3"
        ) {
            $0.changingQuery { $0.with { $0.limit = nil } }
        }
        StoreMutant(
            .query, "limit-zero", "The limit 0 is no limit.", killedBy: "window.limit-zero",
            message: "limit 0"
        ) {
            $0.changingQuery { $0.limit == 0 ? $0.with { $0.limit = nil } : $0 }
        }
        StoreMutant(
            .query, "limit-100", "Every limit is at most a hundred.",
            killedBy: "query.every-item", message: "all 101 ids"
        ) {
            $0.changingQuery { $0.with { $0.limit = min($0.limit ?? 100, 100) } }
        }
        StoreMutant(
            .query, "limit-large", "A limit beyond the end returns no items.", killedBy: "window.limit-large",
            message: "limit 100"
        ) {
            $0.changingQuery { query in (query.limit ?? 0) > 16 ? query.with { $0.limit = 0 } : query }
        }
        StoreMutant(
            .query, "offset-by-one", "The offset skips one too many.", killedBy: "window.offset",
            "window.both", "window.pages", message: "offset 13"
        ) {
            $0.changingQuery { query in query.offset > 0 ? query.with { $0.offset += 1 } : query }
        }
        StoreMutant(
            .query, "offset-alone", "An offset without a limit is ignored.", killedBy: "window.offset",
            "window.offset-beyond", message: "offset 13"
        ) {
            $0.changingQuery { query in query.limit == nil ? query.with { $0.offset = 0 } : query }
        }
        StoreMutant(
            .query, "limit-first", "The limit applies before the offset.", killedBy: "window.both",
            message: "offset 2 limit 2"
        ) {
            $0.changingQuery { query in
                query.with { $0.limit = query.limit.map { max(0, $0 - query.offset) } }
            }
        }
        StoreMutant(
            .query, "window-first", "The window applies before the ordering.", killedBy: "window.ordered",
            message: "limit 1"
        ) {
            $0.changingResult { found, query in found }
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let window = try snapshot.items(matching: query.with { $0.orderings = [] }).items
                let sorted = query.with { ($0.filter, $0.limit, $0.offset) = (nil, nil, 0) }.apply(to: window)
                    .items
                return hits.changing(right, to: QueryResult(items: sorted, totalCount: right.totalCount))
            }
        }
        StoreMutant(
            .query, "filter-last", "The filter applies after the window.", killedBy: "window.filtered",
            message: "offset 1 limit 1"
        ) {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let window = try snapshot.items(
                    matching: query.with { ($0.filter, $0.selection) = (nil, []) }
                ).items
                let left = window.filter { query.filter?.matches($0) ?? true }.map(query.selecting)
                return hits.changing(right, to: QueryResult(items: left, totalCount: right.totalCount))
            }
        }
        StoreMutant(
            .query, "total-of-page", "The total count is that of the page.", killedBy: "window.total",
            "window.limit", message: "total count"
        ) {
            $0.changingResult { found, _ in
                QueryResult(items: found.items, totalCount: found.totalCount.map { _ in found.items.count })
            }
        }
        StoreMutant(
            .query, "total-of-table", "The total count is that of the table.", killedBy: "query.equal",
            "order.filtered", message: "total count"
        ) {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let all = try snapshot.items(matching: TableQuery(query.table).includingTotalCount())
                    .totalCount
                return hits.changing(
                    right,
                    to: QueryResult(items: right.items, totalCount: right.totalCount.flatMap { _ in all }))
            }
        }
        StoreMutant(
            .query, "total-always", "The total count is always returned.", killedBy: "window.limit",
            message: "the total count of a query that does not request it"
        ) {
            $0.changingResult { found, _ in
                QueryResult(items: found.items, totalCount: found.totalCount ?? found.items.count)
            }
        }
        StoreMutant(
            .query, "total-none", "An empty result has no total count.", killedBy: "query.none",
            message: "the result"
        ) {
            $0.changingResult { found, _ in found.items.isEmpty ? QueryResult(items: []) : found }
        }
        StoreMutant(
            .query, "selects-all", "The selection is ignored.", killedBy: "select.fields", "select.twice",
            message: "select label, count"
        ) {
            $0.changingQuery { $0.with { $0.selection = [] } }
        }
        StoreMutant(
            .query, "selects-null", "A selected field that is missing becomes null.",
            killedBy: "select.missing", message: "select note, flag"
        ) {
            $0.changingResult { found, query in
                QueryResult(
                    items: found.items.map { item in
                        var item = item
                        for name in query.selection where item[name] == nil { item[name] = .null }
                        return item
                    }, totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .query, "selects-without-system", "A selection omits the system properties.",
            killedBy: "select.id", "select.system", message: "select"
        ) {
            $0.changingResult { found, query in
                query.selection.isEmpty
                    ? found
                    : QueryResult(
                        items: found.items.map { Item(id: $0.id, fields: $0.fields) },
                        totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .query, "selects-first", "Filter and ordering use only the selected fields.",
            killedBy: "select.unselected", message: "select label"
        ) {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let cut = try snapshot.items(matching: TableQuery(query.table)).items.map(query.selecting)
                return hits.changing(right, to: query.apply(to: cut))
            }
        }
        StoreMutant(
            .query, "parameters", "Server parameters affect local queries.", killedBy: "query.parameters",
            message: "count"
        ) {
            $0.changingQuery { $0.parameters.isEmpty ? $0 : $0.where(.always(false)) }
        }
    }
}

extension TableQuery {
    func with(_ change: (inout TableQuery) -> Void) -> TableQuery {
        var copy = self
        change(&copy)
        return copy
    }
}
