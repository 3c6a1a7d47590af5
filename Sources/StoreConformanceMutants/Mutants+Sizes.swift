// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Limits on the number of rows and on the size of operations.
    @MutantList static var sizes: [StoreMutant] {
        StoreMutant(
            .opening, "cut-names", "The names of tables are cut at 63 characters.",
            killedBy: "columns.long-names", message: "the ids of one table"
        ) { flaw in
            let cut = { @Sendable (table: String, hits: MutantHits) in
                guard table.utf8.count > 63, table.hasSuffix("b") else { return table }
                hits.hit()
                return table.dropLast() + "a"
            }
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                try transaction.upsert(items, in: cut(table, hits))
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let table = cut(query.table, hits)
                guard table != query.table else { return try snapshot.items(matching: query) }
                var other = TableQuery(table)
                other.filter = query.filter
                return try snapshot.items(matching: other)
            }
        }
        StoreMutant(
            .opening, "index-limit", "An index refuses long values that it cannot compress.",
            killedBy: "value.indexed.long", message: "too long for the index"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for text in items.compactMap({ $0["mark"]?.textValue })
                where text.utf8.count > 2704 && Set(text.utf8).count > 32 {
                    hits.hit()
                    throw StoreError(.unsupported, "The value is too long for the index.")
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(
            .delete, "matching-100", "A delete by query removes at most a hundred items.",
            killedBy: "delete.query.many", "size.delete-query-40k",
            message: "the number of items removed of 102"
        ) {
            $0.deletingMatches(atMost: 100)
        }
        StoreMutant(
            .delete, "matching-32k", "A delete by query removes at most 32 767 items.",
            killedBy: "size.delete-query-40k", message: "the number of items removed of 40001"
        ) {
            $0.deletingMatches(atMost: 32_767)
        }
        StoreMutant(
            .read, "ten-thousand", "A query returns at most ten thousand items.",
            killedBy: "size.result-12k", message: "all ids"
        ) {
            $0.changingResult { found, _ in
                QueryResult(items: Array(found.items.prefix(10_000)), totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .read, "rows-ten-thousand", "Columns are read of at most ten thousand rows.",
            killedBy: "size.result-12k", message: "the ids of all rows"
        ) { flaw in
            flaw.forEachRow = { [hits = flaw.hits] snapshot, query, columns, body in
                var count = 0
                return try snapshot.forEachRow(matching: query, columns: columns) { row in
                    count += 1
                    if count <= 10_000 { try body(row) } else { hits.hit() }
                }
            }
        }
        StoreMutant(
            .queue, "drops-megabytes", "The base of an operation is dropped if it is too large.",
            killedBy: "size.operation-1m", message: "the operation by its id"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                var stored = operation
                if operation.base?.isLarge == true { stored.base = nil }
                try transaction.put(hits.changing(operation, to: stored))
            }
        }
        StoreMutant(
            .log, "drops-megabytes", "The server's item of an error is dropped if it is too large.",
            killedBy: "size.operation-1m", message: "the error by its operation"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                let stored = error.serverItem?.isLarge == true ? error.withoutServerItem : error
                try transaction.put(hits.changing(error, to: stored))
            }
        }
    }
}

extension StoreFlaw {
    /// Limits the number of items that a delete by query removes.
    fileprivate mutating func deletingMatches(atMost limit: Int) {
        deleteMatching = { [hits] transaction, query in
            let ids = try transaction.items(matching: query).items.map(\.id)
            if ids.count > limit { hits.hit() }
            try transaction.deleteItems(ids: Array(ids.prefix(limit)), in: query.table)
            return min(ids.count, limit)
        }
    }
}

extension Item {
    fileprivate var isLarge: Bool {
        fields.values.contains { ($0.textValue?.utf8.count ?? 0) > 1_000_000 }
    }
}
