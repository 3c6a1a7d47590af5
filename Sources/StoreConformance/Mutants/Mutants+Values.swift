// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreMutant {
    /// Items that are read wrongly.
    @MutantList static var reads: [StoreMutant] {
        StoreMutant(
            .read, "stale-cache", "The first answer for an id is kept for ever.", killedBy: "value.bool", saying: "\"flag\": true"
        ) { flaw in
            let cache = Shared<[ItemKey: Item?]>([:])
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let key = ItemKey(table: table, id: id)
                let right = try snapshot.item(id: id, in: table)
                if let cached = cache.value[key] { return hits.changing(right, to: cached) }
                cache.change { $0[key] = .some(right) }
                return right
            }
        }
        StoreMutant(.read, "cuts-at-nul", "Text ends at NUL.", killedBy: "value.text", "corpus.field", "corpus.json", saying: "\"a\\u{0}b\"") {
            $0.finding { item in
                Item(
                    id: item.id,
                    fields: item.fields.mapValues { value in
                        value.mapped { $0.textValue.map { .text(String($0.prefix { $0 != "\0" })) } ?? $0 }
                    }, system: item.system)
            }
        }
        StoreMutant(.read, "drops-null", "Nulls come back as missing fields.", killedBy: "value.null", "value.missing-null-empty", saying: "null in 'flag'") {
            $0.finding { item in Item(id: item.id, fields: item.fields.filter { !$0.value.isNull }, system: item.system) }
        }
        StoreMutant(.read, "missing-as-null", "Missing fields come back as nulls.", killedBy: "value.null", saying: "null in 'flag'") {
            $0.finding { item in
                var fields = item.fields
                for column in Fixture.thing.columns where fields[column.name] == nil { fields[column.name] = .null }
                return Item(id: item.id, fields: fields, system: item.system)
            }
        }
        StoreMutant(.read, "holes", "A query of many rows leaves every 101st out.", killedBy: "query.every-item", saying: "all 101 ids") {
            $0.answering { found, _ in
                QueryResult(
                    items: found.items.enumerated().filter { $0.offset % 101 != 100 }.map(\.element),
                    totalCount: found.totalCount)
            }
        }
        StoreMutant(.read, "thousand", "No query gives more than a thousand rows.", killedBy: "query.every-item", saying: "all 1001 ids") {
            $0.answering { found, _ in QueryResult(items: Array(found.items.prefix(1000)), totalCount: found.totalCount) }
        }
        StoreMutant(.read, "query-cache", "The result of a query is kept for ever.", killedBy: "query.fresh", "query.fresh-delete", saying: "the count after 2 upserts") { flaw in
            let cache = Shared<[TableQuery: QueryResult]>([:])
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                if let cached = cache.value[query] { return hits.changing(right, to: cached) }
                cache.change { $0[query] = right }
                return right
            }
        }
        StoreMutant(.read, "missing-as-empty", "An item that is not there is read as an empty one.", killedBy: "item.get.missing", saying: "an item of an empty table") { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if let item = try snapshot.item(id: id, in: table) { return item }
                hits.hit()
                return Item(id: id)
            }
        }
        StoreMutant(.read, "blind-inside", "A transaction does not see its own upserts.", killedBy: "item.get.inside", "query.inside", saying: "after an upsert") { flaw in
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
        StoreMutant(.read, "wears-out", "Every tenth reading of an item gives nothing.", killedBy: "transaction.snapshot", "item.get.repeats", saying: "all items") { flaw in
            let count = Shared(0)
            flaw.answering { found, _ in
                count.change { $0 += 1 }
                return count.value % 3 == 0 ? QueryResult(items: [], totalCount: found.totalCount) : found
            }
        }
    }

    /// Items that are written wrongly.
    @MutantList static var writes: [StoreMutant] {
        StoreMutant(.write, "loses", "Upserts are forgotten.", killedBy: "item.upsert.adds", "model.scripts", saying: "the new item") {
            $0.storing { _ in nil }
        }
        StoreMutant(
            .write, "merges", "An upsert merges the new fields into the old item.",
            killedBy: "item.upsert.replaces-whole", saying: "the replaced item"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    let old = try transaction.item(id: item.id, in: table)?.fields ?? [:]
                    let merged = Item(id: item.id, fields: old.merging(item.fields) { $1 }, system: item.system)
                    try transaction.upsert([hits.changing(item, to: merged)], in: table)
                }
            }
        }
        StoreMutant(.write, "keeps-first", "An item that is there is not replaced.", killedBy: "item.upsert.replaces-whole", saying: "the replaced item") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    if try transaction.item(id: item.id, in: table) == nil { try transaction.upsert([item], in: table) } else { hits.hit() }
                }
            }
        }
        StoreMutant(.write, "same-twice", "An item that is put again as it is, is lost.", killedBy: "item.upsert.same-again", saying: "items") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    guard try transaction.item(id: item.id, in: table) == item else { try transaction.upsert([item], in: table); continue }
                    hits.hit()
                    try transaction.deleteItems(ids: [item.id], in: table)
                }
            }
        }
        StoreMutant(.write, "keeps-system", "Absent system properties leave the old ones.", killedBy: "item.upsert.replaces-system", saying: "the item without system properties") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    var changed = item
                    if item.system == SystemProperties(), let old = try transaction.item(id: item.id, in: table) {
                        changed.system = old.system
                    }
                    try transaction.upsert([hits.changing(item, to: changed)], in: table)
                }
            }
        }
        StoreMutant(.write, "first-of-duplicates", "Of an id that occurs twice in one upsert the first stays.", killedBy: "item.upsert.last-of-duplicates", saying: "the count of the last") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                var ids: Set<String> = []
                let first = items.filter { ids.insert($0.id).inserted }
                if first.count < items.count { hits.hit() }
                try transaction.upsert(first, in: table)
            }
        }
        StoreMutant(.write, "cut-at-999", "An upsert ends after 999 items.", killedBy: "item.upsert.many", "size.upsert-40k", saying: "ids after an upsert of 1000") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.count > 999 { hits.hit() }
                try transaction.upsert(Array(items.prefix(999)), in: table)
            }
        }
        StoreMutant(.write, "first-row's-columns", "All items of one upsert get the columns of the first.", killedBy: "item.upsert.different-fields", "select.missing", saying: "all items") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                guard let names = items.first?.fields.keys else { return try transaction.upsert(items, in: table) }
                let cut = items.map { Item(id: $0.id, fields: $0.fields.filter { names.contains($0.key) }, system: $0.system) }
                try transaction.upsert(hits.changing(items, to: cut), in: table)
            }
        }
        StoreMutant(.write, "not-nothing", "An upsert of no items clears the table.", killedBy: "item.upsert.nothing", saying: "after an empty upsert") { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.isEmpty {
                    hits.hit()
                    _ = try transaction.deleteItems(matching: TableQuery(table))
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(.write, "drops-megabytes", "Values over a million bytes are dropped.", killedBy: "size.value-1m", "size.value-10m", saying: "1.1 MB of text") {
            $0.storing { item in Item(id: item.id, fields: item.fields.filter { $0.value.byteCount <= 1_000_000 }, system: item.system) }
        }
        StoreMutant(.write, "cuts-64k", "Text is cut at 64 KiB.", killedBy: "value.64k", "corpus.field", saying: "65537 bytes") {
            $0.storingValues { value in value.textValue.map { .text(String(decoding: $0.utf8.prefix(65_536), as: UTF8.self)) } ?? value }
        }
        StoreMutant(.write, "trims", "Text loses the white space at its ends.", killedBy: "value.text", "value.text.indexed", "query.text.space", "query.trim", saying: "the text \" \"") {
            $0.storingValues { value in value.textValue.map { .text($0.trimmingCharacters(in: .whitespaces.union(.newlines))) } ?? value }
        }
        StoreMutant(.write, "resurrects", "An item that comes again after a delete has its old fields too.", killedBy: "delete.then-upsert", saying: "the new item") { flaw in
            let deleted = Shared<[String: [String: ItemValue]]>([:])
            flaw.deleteIDs = { transaction, ids, table in
                for id in ids {
                    if let fields = try transaction.item(id: id, in: table)?.fields { deleted.change { $0[id] = fields } }
                }
                try transaction.deleteItems(ids: ids, in: table)
            }
            flaw.storing { item in
                Item(id: item.id, fields: (deleted.value[item.id] ?? [:]).merging(item.fields) { $1 }, system: item.system)
            }
        }
        StoreMutant(.write, "ids-nfc", "Ids are brought into a normal form.", killedBy: "item.id.bytes", "order.id-bytes", "corpus.id", saying: "the item \"e\\u{301}\"") {
            $0.storing { Item(id: $0.id.precomposedStringWithCanonicalMapping, fields: $0.fields, system: $0.system) }
        }
        StoreMutant(.write, "ids-lowercase", "Ids lose their case.", killedBy: "item.id.bytes", saying: "the item \"A\"") {
            $0.storing { Item(id: $0.id.lowercased(), fields: $0.fields, system: $0.system) }
        }
        StoreMutant(.write, "ids-cut", "Ids are cut at 511 bytes.", killedBy: "item.id.common-beginning", "item.id.long", "capability.id-length", "capability.id-length.unlimited", saying: "the table's ids") {
            $0.storing { Item(id: String(decoding: $0.id.utf8.prefix(511), as: UTF8.self), fields: $0.fields, system: $0.system) }
        }
        StoreMutant(.write, "ids-as-numbers", "Ids that look like numbers are stored as numbers.", killedBy: "item.id.digits", saying: "1e0") {
            $0.storing { item in
                guard let number = Double(item.id), number.isFinite, number < 1e6 else { return item }
                return Item(id: "\(Int(number))", fields: item.fields, system: item.system)
            }
        }
        StoreMutant(.write, "no-local-columns", "Local columns are not stored.", killedBy: "value.text.indexed", saying: "local") {
            $0.storing { item in Item(id: item.id, fields: item.fields.filter { $0.key != "note" }, system: item.system) }
        }
        StoreMutant(.write, "keywords", "Columns called like words of SQL are lost.", killedBy: "item.table.keywords", saying: "an item of table 'order'") {
            $0.storing { item in
                Item(id: item.id, fields: item.fields.filter { !["select", "group", "rowid"].contains($0.key) }, system: item.system)
            }
        }
        StoreMutant(.write, "trims-versions", "Versions lose their quotes.", killedBy: "item.system.round-trip", "item.system.exact", "corpus.version", saying: "all system properties") {
            $0.storing { item in
                var changed = item
                changed.system.version = item.system.version?.trimmingCharacters(in: ["\""])
                return changed
            }
        }
        StoreMutant(.write, "deletes-never", "A delete in the transaction of an upsert is forgotten.", killedBy: "item.upsert.in-order", saying: "") { flaw in
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
        StoreMutant(.write, "wears-out", "After a thousand changes, updates are forgotten.", killedBy: "size.rewrite", saying: "the last counts") { flaw in
            let count = Shared(0)
            flaw.storing { item in
                count.change { $0 += 1 }
                return count.value > 1400 ? nil : item
            }
        }
    }

    /// Values whose type or precision is lost.
    @MutantList static var types: [StoreMutant] {
        StoreMutant(.types, "bool-as-integer", "Booleans come back as numbers.", killedBy: "value.bool", saying: "true") {
            $0.storingValues { value in value.boolValue.map { .int($0 ? 1 : 0) } ?? value }
        }
        StoreMutant(.types, "integer-as-double", "Integers pass through a double.", killedBy: "value.integer", "query.integer.exact", saying: "-9223372036854775807") {
            $0.storingValues { value in value.intValue.map { .int(Int64(exactly: Double($0)) ?? .max) } ?? value }
        }
        StoreMutant(.types, "integer-32", "Integers are cut to 32 bits.", killedBy: "value.integer", "query.integer.limits", saying: "-9223372036854775808") {
            $0.storingValues { value in value.intValue.map { .int(Int64(Int32(truncatingIfNeeded: $0))) } ?? value }
        }
        StoreMutant(.types, "double-as-text", "Doubles keep fifteen digits.", killedBy: "value.double", "query.double", saying: "0.30000000000000004") {
            $0.storingValues { value in
                guard case .double(let double) = value else { return value }
                return .double(Double(String(format: "%.15g", double)) ?? double)
            }
        }
        StoreMutant(.types, "no-negative-zero", "Negative zero loses its sign.", killedBy: "value.double", saying: "-0.0 as Double") {
            $0.storingValues { value in value == .double(-0.0) ? .double(0) : value }
        }
        StoreMutant(.types, "no-denormals", "The least doubles become zero.", killedBy: "value.double", "query.double.small", "corpus.values", "corpus.values.order", saying: "5e-324 as Double") {
            $0.storingValues { value in
                if case .double(let double) = value, double.isSubnormal { .double(0) } else { value }
            }
        }
        StoreMutant(.types, "whole-doubles", "Whole doubles come back as integers.", killedBy: "value.double.whole", "value.double", saying: "1.0 as Double") {
            $0.storingValues { value in
                guard case .double(let double) = value, abs(double) < 1e6, double.rounded() == double else { return value }
                return .int(Int64(double))
            }
        }
        StoreMutant(.types, "three-digits", "Dates show three fraction digits.", killedBy: "value.date", saying: "2014-05-30T18:30:00.000Z") {
            $0.storingValues { value in value.dateValue.map { .date($0.showing(fractionDigits: 3)) } ?? value }
        }
        StoreMutant(.types, "seconds", "Dates lose their fractions.", killedBy: "value.date", "query.date.digits", saying: "2014-05-30T18:30:00Z") {
            $0.storingValues { value in value.dateValue.map { .date($0.showing(fractionDigits: 0)) } ?? value }
        }
        StoreMutant(.types, "text-data", "Binary data passes through text.", killedBy: "value.data", "query.data", "order.data", saying: "data <") {
            $0.storingValues { value in value.dataValue.map { .data(Data(String(decoding: $0, as: UTF8.self).utf8)) } ?? value }
        }
        StoreMutant(.types, "empty-data-null", "Empty data becomes null.", killedBy: "value.missing-null-empty", "value.data", saying: "the four items") {
            $0.storingValues { value in value == .data(Data()) ? .null : value }
        }
        StoreMutant(.types, "empty-text-null", "Empty text becomes null.", killedBy: "value.missing-null-empty", "query.text.empty", saying: "the four items") {
            $0.storingValues { value in value == "" ? .null : value }
        }
        StoreMutant(.types, "text-nfc", "Text is brought into a normal form.", killedBy: "value.text", "query.text.bytes", "query.part.bytes", saying: "\"e\\u{301}\"") {
            $0.storingValues { value in value.textValue.map { .text($0.precomposedStringWithCanonicalMapping) } ?? value }
        }
        StoreMutant(.types, "line-ends", "Line ends are made alike.", killedBy: "value.text", saying: "\"\\u{d}\\u{a}\"") {
            $0.storingValues { value in value.textValue.map { .text($0.replacingOccurrences(of: "\r\n", with: "\n")) } ?? value }
        }
        StoreMutant(.types, "no-mark", "A byte order mark at the beginning is dropped.", killedBy: "value.text", saying: "\"\\u{feff}x\"") {
            $0.storingValues { value in
                value.textValue.map { text in
                    .text(text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text)
                } ?? value
            }
        }
        StoreMutant(.types, "json-doubles", "In JSON, whole doubles become integers.", killedBy: "value.json.numbers", "value.json", saying: "numbers") {
            $0.storing { item in
                var changed = item
                changed.fields["extra"] = item.fields["extra"]?.mapped { value in
                    if case .double(let double) = value, let int = Int64(exactly: double) { .int(int) } else { value }
                }
                return changed
            }
        }
        StoreMutant(.types, "json-nulls", "Nulls in JSON objects are dropped.", killedBy: "value.json", saying: "null") {
            $0.storingValues { value in
                if case .object(let fields) = value { .object(fields.filter { !$0.value.isNull }) } else { value }
            }
        }
        StoreMutant(.types, "json-shallow", "JSON deeper than twenty levels is dropped.", killedBy: "value.json.deep", saying: "50 levels") {
            $0.storing { item in
                var changed = item
                changed.fields["extra"] = item.fields["extra"].map { $0.cut(depth: 20) }
                return changed
            }
        }
        StoreMutant(.types, "one-type-a-row", "An item keeps one field of each type of value.", killedBy: "value.every-column", "query.columns", saying: "the item 'a'") {
            $0.storing { item in
                Item(id: item.id, fields: item.fields.filter { $0.key != "ratio" || item.fields["count"] == nil }, system: item.system)
            }
        }
    }
}

extension ItemValue {
    fileprivate var byteCount: Int { textValue?.utf8.count ?? dataValue?.count ?? 0 }

    fileprivate func cut(depth: Int) -> ItemValue {
        guard depth > 0 else { return .null }
        return switch self {
        case .array(let values): .array(values.map { $0.cut(depth: depth - 1) })
        case .object(let fields): .object(fields.mapValues { $0.cut(depth: depth - 1) })
        default: self
        }
    }
}
