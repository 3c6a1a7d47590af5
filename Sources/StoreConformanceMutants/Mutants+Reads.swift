// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Items that are read wrongly.
    @MutantList static var reads: [StoreMutant] {
        StoreMutant(
            .read, "stale-cache", "The first answer for an id is kept for ever.", killedBy: "value.bool",
            saying: "\"flag\": true"
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
            .read, "cuts-at-nul", "Text ends at NUL.", killedBy: "value.text", "corpus.field", "corpus.json",
            saying: "\"a\\u{0}b\""
        ) {
            $0.finding { item in
                Item(
                    id: item.id,
                    fields: item.fields.mapValues { value in
                        value.mapped { $0.textValue.map { .text(String($0.prefix { $0 != "\0" })) } ?? $0 }
                    }, system: item.system)
            }
        }
        StoreMutant(
            .read, "drops-null", "Nulls come back as missing fields.", killedBy: "value.null",
            "value.missing-null-empty", saying: "null in 'flag'"
        ) {
            $0.finding { item in
                Item(id: item.id, fields: item.fields.filter { !$0.value.isNull }, system: item.system)
            }
        }
        StoreMutant(
            .read, "missing-as-null", "Missing fields come back as nulls.", killedBy: "value.null",
            saying: "null in 'flag'"
        ) {
            $0.finding { item in
                var fields = item.fields
                for column in Fixture.thing.columns where fields[column.name] == nil {
                    fields[column.name] = .null
                }
                return Item(id: item.id, fields: fields, system: item.system)
            }
        }
        StoreMutant(
            .read, "holes", "A query of many rows leaves every 101st out.", killedBy: "query.every-item",
            saying: "all 101 ids"
        ) {
            $0.answering { found, _ in
                QueryResult(
                    items: found.items.enumerated().filter { $0.offset % 101 != 100 }.map(\.element),
                    totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .read, "thousand", "No query gives more than a thousand rows.", killedBy: "query.every-item",
            saying: "all 1001 ids"
        ) {
            $0.answering { found, _ in
                QueryResult(items: Array(found.items.prefix(1000)), totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .read, "query-cache", "The result of a query is kept for ever.", killedBy: "query.fresh",
            "query.fresh-delete", saying: "the count after 2 upserts"
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
            .read, "missing-as-empty", "An item that is not there is read as an empty one.",
            killedBy: "item.get.missing", saying: "an item of an empty table"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if let item = try snapshot.item(id: id, in: table) { return item }
                hits.hit()
                return Item(id: id)
            }
        }
        StoreMutant(
            .read, "blind-inside", "A transaction does not see its own upserts.", killedBy: "item.get.inside",
            "query.inside", saying: "after an upsert"
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
            .read, "wears-out", "Every tenth reading of an item gives nothing.",
            killedBy: "transaction.snapshot", "item.get.repeats", saying: "all items"
        ) { flaw in
            let count = Shared(0)
            flaw.answering { found, _ in
                count.change { $0 += 1 }
                return count.value % 3 == 0 ? QueryResult(items: [], totalCount: found.totalCount) : found
            }
        }
    }
}
