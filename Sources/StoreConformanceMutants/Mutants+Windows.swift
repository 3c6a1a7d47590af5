// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Windows, counts and selections that are wrong.
    @MutantList static var windows: [StoreMutant] {
        StoreMutant(
            .query, "no-limit", "The limit is ignored.", killedBy: "window.limit", "window.limit-zero",
            "select.fields", "select.id", "select.twice", "select.system", saying: "limit 3"
        ) {
            $0.asking { $0.with { $0.limit = nil } }
        }
        StoreMutant(
            .query, "limit-zero", "The limit 0 is no limit.", killedBy: "window.limit-zero", saying: "limit 0"
        ) {
            $0.asking { $0.limit == 0 ? $0.with { $0.limit = nil } : $0 }
        }
        StoreMutant(
            .query, "limit-100", "No limit means a hundred, and a large one too.",
            killedBy: "query.every-item", saying: "all 101 ids"
        ) {
            $0.asking { $0.with { $0.limit = min($0.limit ?? 100, 100) } }
        }
        StoreMutant(
            .query, "limit-large", "A limit beyond the end finds nothing.", killedBy: "window.limit-large",
            saying: "limit 100"
        ) {
            $0.asking { query in (query.limit ?? 0) > 16 ? query.with { $0.limit = 0 } : query }
        }
        StoreMutant(
            .query, "offset-by-one", "The offset skips one too many.", killedBy: "window.offset",
            "window.both", "window.pages", saying: "offset 13"
        ) {
            $0.asking { query in query.offset > 0 ? query.with { $0.offset += 1 } : query }
        }
        StoreMutant(
            .query, "offset-alone", "An offset without a limit is ignored.", killedBy: "window.offset",
            "window.offset-beyond", saying: "offset 13"
        ) {
            $0.asking { query in query.limit == nil ? query.with { $0.offset = 0 } : query }
        }
        StoreMutant(
            .query, "limit-first", "The limit comes before the offset.", killedBy: "window.both",
            saying: "offset 2 limit 2"
        ) {
            $0.asking { query in query.with { $0.limit = query.limit.map { max(0, $0 - query.offset) } } }
        }
        StoreMutant(
            .query, "window-first", "The window comes before the order.", killedBy: "window.ordered",
            saying: "limit 1"
        ) {
            $0.answering { found, query in found }
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let window = try snapshot.items(matching: query.with { $0.orderings = [] }).items
                let sorted = query.with { ($0.filter, $0.limit, $0.offset) = (nil, nil, 0) }.apply(to: window)
                    .items
                return hits.changing(right, to: QueryResult(items: sorted, totalCount: right.totalCount))
            }
        }
        StoreMutant(
            .query, "filter-last", "The filter comes after the window.", killedBy: "window.filtered",
            saying: "offset 1 limit 1"
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
            "window.limit", saying: "total count"
        ) {
            $0.answering { found, _ in
                QueryResult(items: found.items, totalCount: found.totalCount.map { _ in found.items.count })
            }
        }
        StoreMutant(
            .query, "total-of-table", "The total count is that of the table.", killedBy: "query.equal",
            "order.filtered", saying: "total count"
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
            .query, "total-always", "The total count comes unasked.", killedBy: "window.limit",
            saying: "the total count that nobody asked for"
        ) {
            $0.answering { found, _ in
                QueryResult(items: found.items, totalCount: found.totalCount ?? found.items.count)
            }
        }
        StoreMutant(
            .query, "total-none", "An empty result has no total count.", killedBy: "query.none",
            saying: "the result"
        ) {
            $0.answering { found, _ in found.items.isEmpty ? QueryResult(items: []) : found }
        }
        StoreMutant(
            .query, "selects-all", "The selection is ignored.", killedBy: "select.fields", "select.twice",
            saying: "select label, count"
        ) {
            $0.asking { $0.with { $0.selection = [] } }
        }
        StoreMutant(
            .query, "selects-null", "A selected field that is missing comes as null.",
            killedBy: "select.missing", saying: "select note, flag"
        ) {
            $0.answering { found, query in
                QueryResult(
                    items: found.items.map { item in
                        var item = item
                        for name in query.selection where item[name] == nil { item[name] = .null }
                        return item
                    }, totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .query, "selects-without-system", "A selection leaves the system properties out.",
            killedBy: "select.id", "select.system", saying: "select"
        ) {
            $0.answering { found, query in
                query.selection.isEmpty
                    ? found
                    : QueryResult(
                        items: found.items.map { Item(id: $0.id, fields: $0.fields) },
                        totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .query, "selects-first", "Filter and order see the selected fields only.",
            killedBy: "select.unselected", saying: "select label"
        ) {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let cut = try snapshot.items(matching: TableQuery(query.table)).items.map(query.selecting)
                return hits.changing(right, to: query.apply(to: cut))
            }
        }
        StoreMutant(
            .query, "parameters", "Parameters for the server filter here.", killedBy: "query.parameters",
            saying: "count"
        ) {
            $0.asking { $0.parameters.isEmpty ? $0 : $0.where(.always(false)) }
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
