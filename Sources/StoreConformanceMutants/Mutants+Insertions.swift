// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Inserts that go wrong.
    @MutantList static var insertions: [StoreMutant] {
        StoreMutant(
            .write, "insert-loses", "Inserts are forgotten.", killedBy: "item.insert.adds",
            saying: "the new item"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                hits.hit()
                return try transaction.item(id: item.id, in: table) == nil
            }
        }
        StoreMutant(
            .write, "insert-replaces", "An insert replaces an item that is there.",
            killedBy: "item.insert.keeps", saying: "the store after the insert"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                let isNew = try transaction.insert(item, in: table)
                if !isNew {
                    hits.hit()
                    try transaction.upsert([item], in: table)
                }
                return isNew
            }
        }
        StoreMutant(
            .write, "insert-fills", "An insert adds the fields that an item lacks.",
            killedBy: "item.insert.keeps", saying: "the store after the insert"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                guard let old = try transaction.item(id: item.id, in: table) else {
                    return try transaction.insert(item, in: table)
                }
                let fields = old.fields.merging(item.fields) { old, _ in old }
                let filled = Item(id: old.id, fields: fields, system: old.system)
                try transaction.upsert([hits.changing(old, to: filled)], in: table)
                return false
            }
        }
        StoreMutant(
            .write, "insert-says-yes", "An insert says that it has added what was there.",
            killedBy: "item.insert.keeps", saying: "whether the item was added"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                if try !transaction.insert(item, in: table) { hits.hit() }
                return true
            }
        }
        StoreMutant(
            .write, "insert-says-no", "An insert does not say that it has added the item.",
            killedBy: "item.insert.adds", saying: "whether the item was added"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                if try transaction.insert(item, in: table) { hits.hit() }
                return false
            }
        }
        StoreMutant(
            .write, "insert-bare", "An insert leaves the system properties out.",
            killedBy: "item.insert.adds", saying: "the new item"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                let bare = Item(id: item.id, fields: item.fields)
                return try transaction.insert(hits.changing(item, to: bare), in: table)
            }
        }
        StoreMutant(
            .write, "insert-nfc", "An insert takes ids for the same that look the same.",
            killedBy: "item.insert.bytes", saying: "was added"
        ) {
            $0.refusingInserts { transaction, item, table in
                let ids = try transaction.items(matching: TableQuery(table).select("id")).items.map(\.id)
                // Swift compares texts by what they look like.
                return ids.contains(item.id)
            }
        }
        StoreMutant(
            .write, "insert-after-delete",
            "An id that was deleted in a transaction cannot be inserted in it.",
            killedBy: "item.insert.inside", saying: "after a delete"
        ) { flaw in
            let deleted = Shared<Set<String>>([])
            flaw.write = { base, body in
                deleted.change { $0 = [] }
                try base.write { try body($0) }
            }
            flaw.deleteIDs = { transaction, ids, table in
                deleted.change { $0.formUnion(ids.map { "\(table)/\($0)" }) }
                try transaction.deleteItems(ids: ids, in: table)
            }
            flaw.refusingInserts { _, item, table in deleted.value.contains("\(table)/\(item.id)") }
        }
        StoreMutant(
            .write, "insert-one-table", "An item of any table stands in an insert's way.",
            killedBy: "item.insert.own-table", saying: "whether the item was added"
        ) {
            $0.refusingInserts { transaction, item, _ in
                try Fixture.tables.contains { try transaction.item(id: item.id, in: $0.name) != nil }
            }
        }
        StoreMutant(
            .write, "insert-beginnings", "An insert compares the first 511 bytes of ids.",
            killedBy: "item.insert.long-id", saying: "the id on b"
        ) {
            $0.refusingInserts { transaction, item, table in
                let beginning = Array(item.id.utf8.prefix(511))
                let ids = try transaction.items(matching: TableQuery(table).select("id")).items.map(\.id)
                return ids.contains { $0.utf8.prefix(511).elementsEqual(beginning) }
            }
        }
        StoreMutant(
            .write, "insert-unfound", "Queries with a filter do not find what was inserted.",
            killedBy: "item.insert.found", saying: "the ids with mark x"
        ) { flaw in
            let inserted = Shared<Set<String>>([])
            flaw.insert = { transaction, item, table in
                inserted.change { $0.insert("\(table)/\(item.id)") }
                return try transaction.insert(item, in: table)
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let found = try snapshot.items(matching: query)
                guard query.filter != nil else { return found }
                let rest = found.items.filter { !inserted.value.contains("\(query.table)/\($0.id)") }
                return hits.changing(found, to: QueryResult(items: rest, totalCount: found.totalCount))
            }
        }
        StoreMutant(
            .write, "insert-stays", "An insert stays although its transaction failed.",
            killedBy: "item.insert.rollback", saying: "the store"
        ) { flaw in
            let inserted = Shared<[(item: Item, table: String)]>([])
            flaw.insert = { transaction, item, table in
                let isNew = try transaction.insert(item, in: table)
                if isNew { inserted.change { $0.append((item, table)) } }
                return isNew
            }
            flaw.write = { [hits = flaw.hits] base, body in
                inserted.change { $0 = [] }
                do { try base.write { try body($0) } } catch {
                    try base.write { transaction in
                        for (item, table) in inserted.value where try transaction.insert(item, in: table) {
                            hits.hit()
                        }
                    }
                    throw error
                }
            }
        }
        StoreMutant(
            .write, "insert-anywhere", "An insert into an unknown table does nothing.",
            killedBy: "item.insert.unknown-table", saying: "an insert into"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                do { return try transaction.insert(item, in: table) } catch let error as SyncError
                    where error.code == .unknownTable
                {
                    hits.hit()
                    return false
                }
            }
        }
    }
}
