// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in inserts.
    @MutantList static var insertions: [StoreMutant] {
        StoreMutant(
            .write, "insert-loses", "Inserts are not stored.", killedBy: "item.insert.adds",
            message: "the new item"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                hits.hit()
                return try transaction.item(id: item.id, in: table) == nil
            }
        }
        StoreMutant(
            .write, "insert-replaces", "An insert replaces an existing item.",
            killedBy: "item.insert.keeps", message: "the store after the insert"
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
            .write, "insert-fills", "An insert adds missing fields to an existing item.",
            killedBy: "item.insert.keeps", message: "the store after the insert"
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
            .write, "insert-says-yes", "An insert returns true for an existing item.",
            killedBy: "item.insert.keeps", message: "whether the item was added"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                if try !transaction.insert(item, in: table) { hits.hit() }
                return true
            }
        }
        StoreMutant(
            .write, "insert-says-no", "An insert returns false for a new item.",
            killedBy: "item.insert.adds", message: "whether the item was added"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                if try transaction.insert(item, in: table) { hits.hit() }
                return false
            }
        }
        StoreMutant(
            .write, "insert-bare", "An insert does not store the system properties.",
            killedBy: "item.insert.adds", message: "the new item"
        ) { flaw in
            flaw.insert = { [hits = flaw.hits] transaction, item, table in
                let bare = Item(id: item.id, fields: item.fields)
                return try transaction.insert(hits.changing(item, to: bare), in: table)
            }
        }
        StoreMutant(
            .write, "insert-nfc", "An insert compares ids by canonical equivalence.",
            killedBy: "item.insert.bytes", message: "was added"
        ) {
            $0.refusingInserts { transaction, item, table in
                let ids = try transaction.items(matching: TableQuery(table).select("id")).items.map(\.id)
                // Swift's `==` on strings uses canonical equivalence.
                return ids.contains(item.id)
            }
        }
        StoreMutant(
            .write, "insert-after-delete",
            "An id that was deleted in a transaction cannot be inserted in the same transaction.",
            killedBy: "item.insert.inside", message: "after a delete"
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
            .write, "insert-one-table", "An item with the same id in any table prevents an insert.",
            killedBy: "item.insert.own-table", message: "whether the item was added"
        ) {
            $0.refusingInserts { transaction, item, _ in
                try Fixture.tables.contains { try transaction.item(id: item.id, in: $0.name) != nil }
            }
        }
        StoreMutant(
            .write, "insert-beginnings", "An insert compares only the first 511 bytes of ids.",
            killedBy: "item.insert.long-id", message: "the id on b"
        ) {
            $0.refusingInserts { transaction, item, table in
                let beginning = Array(item.id.utf8.prefix(511))
                let ids = try transaction.items(matching: TableQuery(table).select("id")).items.map(\.id)
                return ids.contains { $0.utf8.prefix(511).elementsEqual(beginning) }
            }
        }
        StoreMutant(
            .write, "insert-unfound", "Queries with a filter do not find inserted items.",
            killedBy: "item.insert.found", message: "the ids with mark x"
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
            .write, "insert-stays", "The inserts of a failed transaction are not rolled back.",
            killedBy: "item.insert.rollback", message: "the store"
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
            killedBy: "item.insert.unknown-table", message: "an insert into"
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
