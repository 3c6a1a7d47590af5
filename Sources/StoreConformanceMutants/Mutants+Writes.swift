// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in upserts.
    @MutantList static var writes: [StoreMutant] {
        StoreMutant(
            .write, "loses", "Upserts are not stored.", killedBy: "item.upsert.adds", "model.scripts",
            message: "the new item"
        ) {
            $0.changingStoredItem { _ in nil }
        }
        StoreMutant(
            .write, "merges", "An upsert merges the new fields into the old item.",
            killedBy: "item.upsert.replaces-whole", message: "the replaced item"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    let old = try transaction.item(id: item.id, in: table)?.fields ?? [:]
                    let merged = Item(
                        id: item.id, fields: old.merging(item.fields) { $1 }, system: item.system)
                    try transaction.upsert([hits.changing(item, to: merged)], in: table)
                }
            }
        }
        StoreMutant(
            .write, "keeps-first", "An existing item is not replaced.",
            killedBy: "item.upsert.replaces-whole", message: "the replaced item"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    if try transaction.item(id: item.id, in: table) == nil {
                        try transaction.upsert([item], in: table)
                    } else {
                        hits.hit()
                    }
                }
            }
        }
        StoreMutant(
            .write, "same-twice", "Upserting an unchanged item deletes it.",
            killedBy: "item.upsert.same-again", message: "items"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    guard try transaction.item(id: item.id, in: table) == item else {
                        try transaction.upsert([item], in: table)
                        continue
                    }
                    hits.hit()
                    try transaction.deleteItems(ids: [item.id], in: table)
                }
            }
        }
        StoreMutant(
            .write, "keeps-system", "An upsert without system properties keeps the old ones.",
            killedBy: "item.upsert.replaces-system", message: "the item without system properties"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    var changed = item
                    if item.system == SystemProperties(),
                        let old = try transaction.item(id: item.id, in: table)
                    {
                        changed.system = old.system
                    }
                    try transaction.upsert([hits.changing(item, to: changed)], in: table)
                }
            }
        }
        StoreMutant(
            .write, "first-of-duplicates", "Of duplicate ids in one upsert, the first item is stored.",
            killedBy: "item.upsert.last-of-duplicates", message: "the count of the last"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                var ids: Set<String> = []
                let first = items.filter { ids.insert($0.id).inserted }
                if first.count < items.count { hits.hit() }
                try transaction.upsert(first, in: table)
            }
        }
        StoreMutant(
            .write, "cut-at-999", "An upsert stops after 999 items.", killedBy: "item.upsert.many",
            "size.upsert-40k", message: "ids after an upsert of 1000"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.count > 999 { hits.hit() }
                try transaction.upsert(Array(items.prefix(999)), in: table)
            }
        }
        StoreMutant(
            .write, "first-row's-columns",
            "All items of one upsert are stored with the columns of the first.",
            killedBy: "item.upsert.different-fields", "select.missing", message: "all items"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                guard let names = items.first?.fields.keys else {
                    return try transaction.upsert(items, in: table)
                }
                let cut = items.map {
                    Item(id: $0.id, fields: $0.fields.filter { names.contains($0.key) }, system: $0.system)
                }
                try transaction.upsert(hits.changing(items, to: cut), in: table)
            }
        }
        StoreMutant(
            .write, "not-nothing", "An upsert of no items deletes all items.",
            killedBy: "item.upsert.nothing",
            message: "after an empty upsert"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.isEmpty {
                    hits.hit()
                    _ = try transaction.deleteItems(matching: TableQuery(table))
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(
            .write, "drops-megabytes", "Values over a million bytes are dropped.", killedBy: "size.value-1m",
            "size.value-10m", message: "1.1 MB of text"
        ) {
            $0.changingStoredItem { item in
                Item(
                    id: item.id, fields: item.fields.filter { $0.value.byteCount <= 1_000_000 },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "cuts-64k", "Strings are truncated to 64 KiB.", killedBy: "value.64k", "corpus.field",
            message: "65537 bytes"
        ) {
            $0.changingStoredValue { value in
                value.textValue.map { .text(String(decoding: $0.utf8.prefix(65_536), as: UTF8.self)) }
                    ?? value
            }
        }
        StoreMutant(
            .write, "trims", "Strings are trimmed.", killedBy: "value.text",
            "value.text.indexed", "query.text.space", "query.trim", message: "the text \" \""
        ) {
            $0.changingStoredValue { value in
                value.textValue.map { .text($0.trimmingCharacters(in: .whitespaces.union(.newlines))) }
                    ?? value
            }
        }
        StoreMutant(
            .write, "resurrects", "An item upserted after a delete gets its old fields back.",
            killedBy: "delete.then-upsert", message: "the new item"
        ) { flaw in
            let deleted = Shared<[String: [String: ItemValue]]>([:])
            flaw.deleteIDs = { transaction, ids, table in
                for id in ids {
                    if let fields = try transaction.item(id: id, in: table)?.fields {
                        deleted.change { $0[id] = fields }
                    }
                }
                try transaction.deleteItems(ids: ids, in: table)
            }
            flaw.changingStoredItem { item in
                Item(
                    id: item.id, fields: (deleted.value[item.id] ?? [:]).merging(item.fields) { $1 },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "ids-nfc", "Ids are normalized to NFC.", killedBy: "item.id.bytes",
            "order.id-bytes", "corpus.id", message: "the item \"e\\u{301}\""
        ) {
            $0.changingStoredItem {
                Item(id: $0.id.precomposedStringWithCanonicalMapping, fields: $0.fields, system: $0.system)
            }
        }
        StoreMutant(
            .write, "ids-lowercase", "Ids are converted to lowercase.", killedBy: "item.id.bytes",
            message: "the item \"A\""
        ) {
            $0.changingStoredItem { Item(id: $0.id.lowercased(), fields: $0.fields, system: $0.system) }
        }
        StoreMutant(
            .write, "ids-cut", "Ids are truncated to 511 bytes.", killedBy: "item.id.common-beginning",
            "item.id.long", "capability.id-length", "capability.id-length.unlimited",
            message: "the table's ids"
        ) {
            $0.changingStoredItem {
                Item(
                    id: String(decoding: $0.id.utf8.prefix(511), as: UTF8.self), fields: $0.fields,
                    system: $0.system)
            }
        }
        StoreMutant(
            .write, "ids-as-numbers", "Ids that look like numbers are stored as numbers.",
            killedBy: "item.id.digits", message: "1e0"
        ) {
            $0.changingStoredItem { item in
                guard let number = Double(item.id), abs(number) < 1e6 else { return item }
                return Item(id: "\(Int(number))", fields: item.fields, system: item.system)
            }
        }
        StoreMutant(
            .write, "no-local-columns", "Local columns are not stored.", killedBy: "value.text.indexed",
            message: "local"
        ) {
            $0.changingStoredItem { item in
                Item(id: item.id, fields: item.fields.filter { $0.key != "note" }, system: item.system)
            }
        }
        StoreMutant(
            .write, "keywords", "Columns named like SQL keywords are not stored.",
            killedBy: "item.table.keywords",
            message: "an item of table 'order'"
        ) {
            $0.changingStoredItem { item in
                Item(
                    id: item.id,
                    fields: item.fields.filter { !["select", "group", "rowid"].contains($0.key) },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "trims-versions", "Versions lose their quotes.", killedBy: "item.system.round-trip",
            "item.system.exact", "corpus.version", message: "all system properties"
        ) {
            $0.changingStoredItem { item in
                var changed = item
                changed.system.version = item.system.version?.trimmingCharacters(in: ["\""])
                return changed
            }
        }
        StoreMutant(
            .write, "deletes-never", "A delete of an item upserted in the same transaction is ignored.",
            killedBy: "item.upsert.in-order", message: ""
        ) { flaw in
            let upserted = Shared<Set<String>>([])
            flaw.write = { base, body in
                upserted.change { $0 = [] }
                try base.write(body)
            }
            flaw.upsert = { transaction, items, table in
                upserted.change { $0.formUnion(items.map(\.id)) }
                try transaction.upsert(items, in: table)
            }
            flaw.deleteIDs = { [hits = flaw.hits] transaction, ids, table in
                let rest = ids.filter { !upserted.value.contains($0) }
                if rest.count < ids.count { hits.hit() }
                try transaction.deleteItems(ids: rest, in: table)
            }
        }
        StoreMutant(
            .write, "wears-out", "After 1400 upserts, upserts are not stored.", killedBy: "size.rewrite",
            message: "the last counts"
        ) { flaw in
            let count = Shared(0)
            flaw.changingStoredItem { item in
                count.change { $0 += 1 }
                return count.value > 1400 ? nil : item
            }
        }
    }
}

extension ItemValue {
    fileprivate var byteCount: Int { textValue?.utf8.count ?? dataValue?.count ?? 0 }
}
