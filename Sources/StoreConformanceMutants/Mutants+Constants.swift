// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

import struct Foundation.Data

extension StoreMutant {
    /// Errors in the comparison of values.
    @MutantList static var constants: [StoreMutant] {
        StoreMutant(
            .query, "numbers-by-type", "An integer never equals a double.", killedBy: "query.number.mixed",
            "query.number.mixed-exact", message: "count"
        ) {
            $0.filtering { filter in
                guard case .comparison(_, .column("count"), .constant(.double)) = filter else {
                    return filter
                }
                return .always(false)
            }
        }
        StoreMutant(
            .query, "integers-as-doubles", "Integers are compared as doubles.",
            killedBy: "query.integer.exact", "query.integer.limits", "query.number.mixed-exact",
            message: "count"
        ) {
            $0.computing { expression, item in
                guard case .column("count") = expression else { return nil }
                return item["count"]?.doubleValue.map(ItemValue.double)
            }
        }
        StoreMutant(
            .query, "zero-by-bits", "Zero is not negative zero.", killedBy: "query.double.zero",
            message: "ratio"
        ) {
            $0.matching { filter, item in
                if case .comparison(.equal, .column("ratio"), .constant(.double(let value))) = filter {
                    item["ratio"]?.doubleValue?.bitPattern == value.bitPattern
                } else {
                    filter.matches(item)
                }
            }
        }
        StoreMutant(
            .query, "doubles-nearly", "Doubles are compared with a tolerance.", killedBy: "query.double",
            "query.double.small", message: "ratio"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column("ratio"), .constant(let value)) = filter,
                    let wanted = value.doubleValue,
                    let found = item["ratio"]?.doubleValue
                else { return filter.matches(item) }
                return abs(found - wanted) < 1e-9
            }
        }
        StoreMutant(
            .query, "case-blind", "String comparison is case-insensitive.", killedBy: "query.text.case",
            "query.indexed", "corpus.literal", message: "label"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column(let name), .constant(.text(let text))) = filter,
                    name != "id"
                else { return filter.matches(item) }
                return item[name]?.textValue?.lowercased() == text.lowercased()
            }
        }
        StoreMutant(
            .query, "canonical", "Strings are equal when they are canonically equivalent.",
            killedBy: "query.text.bytes",
            message: "label"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column("label"), .constant(.text(let text))) = filter else {
                    return filter.matches(item)
                }
                return item["label"]?.textValue == text
            }
        }
        StoreMutant(
            .query, "nul-literal", "A constant ends at NUL.", killedBy: "query.text.nul", "query.part.nul",
            message: "label"
        ) {
            $0.filtering { filter in
                filter.mappedExpressions { expression in
                    guard case .constant(.text(let text)) = expression else { return nil }
                    return .constant(.text(String(text.prefix { $0 != "\0" })))
                }
            }
        }
        StoreMutant(
            .query, "empty-literal", "An empty constant matches nothing.", killedBy: "query.text.empty",
            "query.part.empty", message: "label"
        ) {
            $0.filtering { filter in
                switch filter {
                case .comparison(_, _, .constant("")), .text(_, _, .constant("")): .always(false)
                default: filter
                }
            }
        }
        StoreMutant(
            .query, "numeric-text", "Strings of digits compare as numbers.", killedBy: "query.text.order",
            message: "label"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.less, .column("label"), .constant(.text(let text))) = filter,
                    let wanted = Double(text),
                    let found = item["label"]?.textValue.flatMap(Double.init)
                else { return filter.matches(item) }
                return found < wanted
            }
        }
        StoreMutant(
            .query, "utf16", "Strings compare by UTF-16 code units.", killedBy: "query.text.order-utf8",
            message: "label"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.greater, .column("label"), .constant(.text(let text))) = filter,
                    let found = item["label"]?.textValue
                else { return filter.matches(item) }
                return text.utf16.lexicographicallyPrecedes(found.utf16)
            }
        }
        StoreMutant(
            .query, "dates-by-digits", "Dates are equal only with the same digits.",
            killedBy: "query.date.instant", "query.in.equality", message: "due"
        ) {
            $0.matching { filter, item in
                switch filter {
                case .comparison(.equal, .column("due"), let constant):
                    item["due"].map(FilterExpression.constant) == constant
                case .membership(.column("due"), let constants): constants.contains(item["due"] ?? .null)
                default: filter.matches(item)
                }
            }
        }
        StoreMutant(
            .query, "dates-from-1970", "Dates before 1970 compare as 1970.", killedBy: "query.date.order",
            "query.date.parts-before-1970", message: "due"
        ) {
            $0.computing { expression, item in
                guard expression == .column("due"), let date = item["due"]?.dateValue, date < .unixEpoch
                else { return nil }
                return .date(.unixEpoch)
            }
        }
        StoreMutant(
            .query, "dates-in-seconds", "Dates compare by whole seconds.", killedBy: "query.date.digits",
            message: "due"
        ) {
            $0.computing { expression, item in
                switch expression {
                case .column("due"): item["due"]?.dateValue.map { .date($0.showing(fractionDigits: 0)) }
                case .constant(.date(let date)): .date(date.showing(fractionDigits: 0))
                default: nil
                }
            }
        }
        StoreMutant(
            .query, "data-by-length", "Binary data compares by its length.", killedBy: "query.data",
            message: "blob"
        ) {
            $0.matching { filter, item in
                guard case .comparison(.greater, .column("blob"), .constant(.data(let data))) = filter,
                    let found = item["blob"]?.dataValue
                else { return filter.matches(item) }
                return found.count > data.count
            }
        }
        StoreMutant(
            .query, "columns-as-text", "A comparison with a column on the right side matches nothing.",
            killedBy: "query.columns",
            "query.part.column", message: "count"
        ) {
            $0.filtering { filter in
                switch filter {
                case .comparison(_, _, .column), .text(_, _, .column): .always(false)
                default: filter
                }
            }
        }
        StoreMutant(
            .query, "stale-index", "An index contains the previous values of items.", killedBy: "query.fresh",
            message: "found after 1 updates"
        ) { flaw in
            let old = Shared<Set<String>>([])
            flaw.upsert = { transaction, items, table in
                for item in items where item["mark"] != nil {
                    if try transaction.item(id: item.id, in: table)?["mark"] != nil {
                        old.change { $0.insert(item.id) }
                    }
                }
                try transaction.upsert(items, in: table)
            }
            flaw.matching { filter, item in
                if case .comparison(.equal, .column("mark"), .constant("x")) = filter,
                    old.value.contains(item.id)
                {
                    return true
                }
                return filter.matches(item)
            }
        }
    }
}
