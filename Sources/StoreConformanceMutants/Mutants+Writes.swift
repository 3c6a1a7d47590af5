// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Items that are written wrongly.
    @MutantList static var writes: [StoreMutant] {
        StoreMutant(
            .write, "loses", "Upserts are forgotten.", killedBy: "item.upsert.adds", "model.scripts",
            saying: "the new item"
        ) {
            $0.storing { _ in nil }
        }
        StoreMutant(
            .write, "merges", "An upsert merges the new fields into the old item.",
            killedBy: "item.upsert.replaces-whole", saying: "the replaced item"
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
            .write, "keeps-first", "An item that is there is not replaced.",
            killedBy: "item.upsert.replaces-whole", saying: "the replaced item"
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
            .write, "same-twice", "An item that is put again as it is, is lost.",
            killedBy: "item.upsert.same-again", saying: "items"
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
            .write, "keeps-system", "Absent system properties leave the old ones.",
            killedBy: "item.upsert.replaces-system", saying: "the item without system properties"
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
            .write, "first-of-duplicates", "Of an id that occurs twice in one upsert the first stays.",
            killedBy: "item.upsert.last-of-duplicates", saying: "the count of the last"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                var ids: Set<String> = []
                let first = items.filter { ids.insert($0.id).inserted }
                if first.count < items.count { hits.hit() }
                try transaction.upsert(first, in: table)
            }
        }
        StoreMutant(
            .write, "cut-at-999", "An upsert ends after 999 items.", killedBy: "item.upsert.many",
            "size.upsert-40k", saying: "ids after an upsert of 1000"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.count > 999 { hits.hit() }
                try transaction.upsert(Array(items.prefix(999)), in: table)
            }
        }
        StoreMutant(
            .write, "first-row's-columns", "All items of one upsert get the columns of the first.",
            killedBy: "item.upsert.different-fields", "select.missing", saying: "all items"
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
            .write, "not-nothing", "An upsert of no items clears the table.", killedBy: "item.upsert.nothing",
            saying: "after an empty upsert"
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
            "size.value-10m", saying: "1.1 MB of text"
        ) {
            $0.storing { item in
                Item(
                    id: item.id, fields: item.fields.filter { $0.value.byteCount <= 1_000_000 },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "cuts-64k", "Text is cut at 64 KiB.", killedBy: "value.64k", "corpus.field",
            saying: "65537 bytes"
        ) {
            $0.storingValues { value in
                value.textValue.map { .text(String(decoding: $0.utf8.prefix(65_536), as: UTF8.self)) }
                    ?? value
            }
        }
        StoreMutant(
            .write, "trims", "Text loses the white space at its ends.", killedBy: "value.text",
            "value.text.indexed", "query.text.space", "query.trim", saying: "the text \" \""
        ) {
            $0.storingValues { value in
                value.textValue.map { .text($0.trimmingCharacters(in: .whitespaces.union(.newlines))) }
                    ?? value
            }
        }
        StoreMutant(
            .write, "resurrects", "An item that comes again after a delete has its old fields too.",
            killedBy: "delete.then-upsert", saying: "the new item"
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
            flaw.storing { item in
                Item(
                    id: item.id, fields: (deleted.value[item.id] ?? [:]).merging(item.fields) { $1 },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "ids-nfc", "Ids are brought into a normal form.", killedBy: "item.id.bytes",
            "order.id-bytes", "corpus.id", saying: "the item \"e\\u{301}\""
        ) {
            $0.storing {
                Item(id: $0.id.precomposedStringWithCanonicalMapping, fields: $0.fields, system: $0.system)
            }
        }
        StoreMutant(
            .write, "ids-lowercase", "Ids lose their case.", killedBy: "item.id.bytes",
            saying: "the item \"A\""
        ) {
            $0.storing { Item(id: $0.id.lowercased(), fields: $0.fields, system: $0.system) }
        }
        StoreMutant(
            .write, "ids-cut", "Ids are cut at 511 bytes.", killedBy: "item.id.common-beginning",
            "item.id.long", "capability.id-length", "capability.id-length.unlimited",
            saying: "the table's ids"
        ) {
            $0.storing {
                Item(
                    id: String(decoding: $0.id.utf8.prefix(511), as: UTF8.self), fields: $0.fields,
                    system: $0.system)
            }
        }
        StoreMutant(
            .write, "ids-as-numbers", "Ids that look like numbers are stored as numbers.",
            killedBy: "item.id.digits", saying: "1e0"
        ) {
            $0.storing { item in
                guard let number = Double(item.id), abs(number) < 1e6 else { return item }
                return Item(id: "\(Int(number))", fields: item.fields, system: item.system)
            }
        }
        StoreMutant(
            .write, "no-local-columns", "Local columns are not stored.", killedBy: "value.text.indexed",
            saying: "local"
        ) {
            $0.storing { item in
                Item(id: item.id, fields: item.fields.filter { $0.key != "note" }, system: item.system)
            }
        }
        StoreMutant(
            .write, "keywords", "Columns called like words of SQL are lost.", killedBy: "item.table.keywords",
            saying: "an item of table 'order'"
        ) {
            $0.storing { item in
                Item(
                    id: item.id,
                    fields: item.fields.filter { !["select", "group", "rowid"].contains($0.key) },
                    system: item.system)
            }
        }
        StoreMutant(
            .write, "trims-versions", "Versions lose their quotes.", killedBy: "item.system.round-trip",
            "item.system.exact", "corpus.version", saying: "all system properties"
        ) {
            $0.storing { item in
                var changed = item
                changed.system.version = item.system.version?.trimmingCharacters(in: ["\""])
                return changed
            }
        }
        StoreMutant(
            .write, "deletes-never", "A delete in the transaction of an upsert is forgotten.",
            killedBy: "item.upsert.in-order", saying: ""
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
            .write, "wears-out", "After a thousand changes, updates are forgotten.", killedBy: "size.rewrite",
            saying: "the last counts"
        ) { flaw in
            let count = Shared(0)
            flaw.storing { item in
                count.change { $0 += 1 }
                return count.value > 1400 ? nil : item
            }
        }
    }
}

extension ItemValue {
    fileprivate var byteCount: Int { textValue?.utf8.count ?? dataValue?.count ?? 0 }
}
