// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in reads.
    @MutantList static var reads: [StoreMutant] {
        StoreMutant(
            .read, "stale-cache", "The first result for an id is cached forever.", killedBy: "value.bool",
            message: "\"flag\": true"
        ) { flaw in
            let cache = Shared<[ItemIdentity: Item?]>([:])
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let key = ItemIdentity(table: table, id: id)
                let right = try snapshot.item(id: id, in: table)
                if let cached = cache.value[key] { return hits.changing(right, to: cached) }
                cache.change { $0[key] = .some(right) }
                return right
            }
        }
        StoreMutant(
            .read, "cuts-at-nul", "Strings end at NUL.", killedBy: "value.text", "corpus.field",
            "corpus.json",
            message: "\"a\\u{0}b\""
        ) {
            $0.changingReadItem { item in
                Item(
                    id: item.id,
                    fields: item.fields.mapValues { value in
                        value.mapped { $0.textValue.map { .text(String($0.prefix { $0 != "\0" })) } ?? $0 }
                    }, system: item.system)
            }
        }
        StoreMutant(
            .read, "drops-null", "Nulls are read as missing fields.", killedBy: "value.null",
            "value.missing-null-empty", message: "null in 'flag'"
        ) {
            $0.changingReadItem { item in
                Item(id: item.id, fields: item.fields.filter { !$0.value.isNull }, system: item.system)
            }
        }
        StoreMutant(
            .read, "missing-as-null", "Missing fields are read as nulls.", killedBy: "value.null",
            message: "null in 'flag'"
        ) {
            $0.changingReadItem { item in
                var fields = item.fields
                for column in Fixture.thing.columns where fields[column.name] == nil {
                    fields[column.name] = .null
                }
                return Item(id: item.id, fields: fields, system: item.system)
            }
        }
        StoreMutant(
            .read, "holes", "A query omits every 101st row.", killedBy: "query.every-item",
            message: "all 101 ids"
        ) {
            $0.changingResult { found, _ in
                QueryResult(
                    items: found.items.enumerated().filter { $0.offset % 101 != 100 }.map(\.element),
                    totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .read, "thousand", "A query returns at most a thousand rows.", killedBy: "query.every-item",
            message: "all 1001 ids"
        ) {
            $0.changingResult { found, _ in
                QueryResult(items: Array(found.items.prefix(1000)), totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .read, "query-cache", "The result of a query is cached forever.", killedBy: "query.fresh",
            "query.fresh-delete", message: "the count after 2 upserts"
        ) { flaw in
            let cache = Shared<[TableQuery: QueryResult]>([:])
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                if let cached = cache.value[query] { return hits.changing(right, to: cached) }
                cache.change { $0[query] = right }
                return right
            }
        }
        StoreMutant(
            .read, "missing-as-empty", "A missing item is read as an empty item.",
            killedBy: "item.get.missing", message: "an item of an empty table"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if let item = try snapshot.item(id: id, in: table) { return item }
                hits.hit()
                return Item(id: id)
            }
        }
        StoreMutant(
            .read, "blind-inside", "A transaction does not see its own upserts.", killedBy: "item.get.inside",
            "query.inside", message: "after an upsert"
        ) { flaw in
            let own = Shared<Set<String>>([])
            flaw.upsert = { transaction, items, table in
                own.change { $0.formUnion(items.map(\.id)) }
                try transaction.upsert(items, in: table)
            }
            flaw.write = { base, body in
                own.change { $0 = [] }
                try base.write(body)
                own.change { $0 = [] }
            }
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.item(id: id, in: table)
                return own.value.contains(id) ? hits.changing(right, to: nil) : right
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let left = right.items.filter { !own.value.contains($0.id) }
                return hits.changing(right, to: QueryResult(items: left, totalCount: right.totalCount))
            }
        }
        StoreMutant(
            .read, "wears-out", "Every third query returns no items.",
            killedBy: "transaction.snapshot", "item.get.repeats", message: "all items"
        ) { flaw in
            let count = Shared(0)
            flaw.changingResult { found, _ in
                count.change { $0 += 1 }
                return count.value % 3 == 0 ? QueryResult(items: [], totalCount: found.totalCount) : found
            }
        }
    }
}
