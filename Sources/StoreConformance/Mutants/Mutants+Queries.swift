// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import struct Foundation.Data
import SyncCore

extension StoreMutant {
    /// Filters that match the wrong items.
    @MutantList static var comparisons: [StoreMutant] {
        comparing("less-or-equal", "Less takes the constant in.", [.less: .lessOrEqual], killedBy: "query.less", saying: "count")
        comparing("less", "Less or equal leaves the constant out.", [.lessOrEqual: .less], killedBy: "query.less-or-equal", saying: "count")
        comparing("greater-or-equal", "Greater takes the constant in.", [.greater: .greaterOrEqual], killedBy: "query.greater", saying: "count")
        comparing("greater", "Greater or equal leaves the constant out.", [.greaterOrEqual: .greater], killedBy: "query.greater-or-equal", saying: "count")
        comparing("equal", "Not equal is equal.", [.notEqual: .equal], killedBy: "query.not-equal", saying: "count")
        comparing("mirrored", "Less and greater are mixed up.", [.less: .greater, .greater: .less], killedBy: "query.bool.order", "query.columns", "query.id", "window.keyset", saying: "flag")
        StoreMutant(.query, "between-open", "An and of two comparisons leaves the upper end out.", killedBy: "query.between", saying: "count") {
            $0.filtering { filter in
                guard case .all(let parts) = filter, parts.count == 2, case .comparison(.lessOrEqual, let left, let right) = parts[1]
                else { return filter }
                return .all([parts[0], .comparison(.less, left, right)])
            }
        }
        StoreMutant(.query, "equal-nothing", "Comparing with equal finds nothing.", killedBy: "query.equal", "query.system", "query.parameters", "open.no-columns", saying: "count") {
            $0.filtering { filter in
                if case .comparison(.equal, _, .constant(let value)) = filter, !value.isNull { .always(false) } else { filter }
            }
        }
        StoreMutant(.query, "bool-inverted", "False is found as true.", killedBy: "query.bool", "query.not-not", "query.or", saying: "flag") {
            $0.filtering { filter in
                guard case .comparison(let comparison, let left, .constant(.bool(let value))) = filter else { return filter }
                return .comparison(comparison, left, .constant(.bool(!value)))
            }
        }
        StoreMutant(.query, "not-equal-null", "Not equal finds nulls too.", killedBy: "query.not-equal", saying: "count") {
            $0.filtering { filter in
                if case .comparison(.notEqual, let left, let right) = filter, right != .constant(.null) { filter || .nullTest(left) } else { filter }
            }
        }
        StoreMutant(.query, "not-unknown", "Not of unknown is true.", killedBy: "query.null.not", "query.in.not", "query.part.not", "query.and.unknown", "query.or.unknown", saying: "count") {
            $0.matching { filter, item in
                if case .not(let inner) = filter { !inner.matches(item) } else { filter.matches(item) }
            }
        }
        StoreMutant(.query, "null-literal", "Equal to null is unknown, as in SQL.", killedBy: "query.null.literal", "order.filtered", saying: "count") {
            $0.filtering { filter in
                if case .comparison(_, _, .constant(.null)) = filter { .always(false) } else { filter }
            }
        }
        StoreMutant(.query, "null-left", "Null on the left is a null test too.", killedBy: "query.null.left", saying: "null") {
            $0.filtering { filter in
                if case .comparison(.equal, .constant(.null), let right) = filter { .nullTest(right) } else { filter }
            }
        }
        StoreMutant(.query, "null-is-least", "Null is less than any value.", killedBy: "query.less", "query.null.order", saying: "count") {
            $0.filtering { filter in
                if case .comparison(.less, let left, _) = filter { filter || .nullTest(left) } else { filter }
            }
        }
        StoreMutant(.query, "null-order", "Null compares with null as equal.", killedBy: "query.null.order", saying: "count") {
            $0.filtering { filter in
                if case .comparison(.greaterOrEqual, let left, .constant(.null)) = filter { .nullTest(left) } else { filter }
            }
        }
        StoreMutant(.query, "null-test-missing", "A null test does not find missing fields.", killedBy: "query.null.test", "query.null.system", saying: "count") {
            $0.matching { filter, item in
                filter.mapped { part in
                    guard case .nullTest(.column(let name)) = part else { return part }
                    return .always(item.fields[name]?.isNull ?? false)
                }.matches(item)
            }
        }
        StoreMutant(.query, "null-json", "A JSON column is never null.", killedBy: "query.null.json", saying: "extra") {
            $0.filtering { $0 == .nullTest(.column("extra")) ? .always(false) : $0 }
        }
        StoreMutant(.query, "numbers-by-type", "An integer never equals a double.", killedBy: "query.number.mixed", "query.number.mixed-exact", saying: "count") {
            $0.filtering { filter in
                guard case .comparison(_, .column("count"), .constant(.double)) = filter else { return filter }
                return .always(false)
            }
        }
        StoreMutant(.query, "integers-as-doubles", "Integers are compared as doubles.", killedBy: "query.integer.exact", "query.integer.limits", "query.number.mixed-exact", saying: "count") {
            $0.computing { expression, item in
                guard case .column("count") = expression else { return nil }
                return item["count"]?.doubleValue.map(ItemValue.double)
            }
        }
        StoreMutant(.query, "zero-by-bits", "Zero is not negative zero.", killedBy: "query.double.zero", saying: "ratio") {
            $0.matching { filter, item in
                if case .comparison(.equal, .column("ratio"), .constant(.double(let value))) = filter {
                    item["ratio"]?.doubleValue?.bitPattern == value.bitPattern
                } else {
                    filter.matches(item)
                }
            }
        }
        StoreMutant(.query, "doubles-nearly", "Doubles that are nearly equal are equal.", killedBy: "query.double", "query.double.small", saying: "ratio") {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column("ratio"), .constant(let value)) = filter, let wanted = value.doubleValue,
                    let found = item["ratio"]?.doubleValue
                else { return filter.matches(item) }
                return abs(found - wanted) < 1e-9
            }
        }
        StoreMutant(.query, "case-blind", "Texts are equal in any case.", killedBy: "query.text.case", "query.indexed", "corpus.literal", saying: "label") {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column(let name), .constant(.text(let text))) = filter, name != "id" else { return filter.matches(item) }
                return item[name]?.textValue?.lowercased() == text.lowercased()
            }
        }
        StoreMutant(.query, "canonical", "Texts are equal when they look equal.", killedBy: "query.text.bytes", saying: "label") {
            $0.matching { filter, item in
                guard case .comparison(.equal, .column("label"), .constant(.text(let text))) = filter else { return filter.matches(item) }
                return item["label"]?.textValue == text
            }
        }
        StoreMutant(.query, "nul-literal", "A constant ends at NUL.", killedBy: "query.text.nul", "query.part.nul", saying: "label") {
            $0.filtering { filter in
                filter.mappedExpressions { expression in
                    guard case .constant(.text(let text)) = expression else { return nil }
                    return .constant(.text(String(text.prefix { $0 != "\0" })))
                }
            }
        }
        StoreMutant(.query, "empty-literal", "An empty constant matches nothing.", killedBy: "query.text.empty", "query.part.empty", saying: "label") {
            $0.filtering { filter in
                switch filter {
                case .comparison(_, _, .constant("")), .text(_, _, .constant("")): .always(false)
                default: filter
                }
            }
        }
        StoreMutant(.query, "numeric-text", "Texts of digits compare as numbers.", killedBy: "query.text.order", saying: "label") {
            $0.matching { filter, item in
                guard case .comparison(.less, .column("label"), .constant(.text(let text))) = filter, let wanted = Double(text),
                    let found = item["label"]?.textValue.flatMap(Double.init)
                else { return filter.matches(item) }
                return found < wanted
            }
        }
        StoreMutant(.query, "utf16", "Texts compare by their UTF-16 units.", killedBy: "query.text.order-utf8", saying: "label") {
            $0.matching { filter, item in
                guard case .comparison(.greater, .column("label"), .constant(.text(let text))) = filter, let found = item["label"]?.textValue
                else { return filter.matches(item) }
                return text.utf16.lexicographicallyPrecedes(found.utf16)
            }
        }
        StoreMutant(.query, "dates-by-digits", "Dates are equal only with the same digits.", killedBy: "query.date.instant", "query.in.equality", saying: "due") {
            $0.matching { filter, item in
                switch filter {
                case .comparison(.equal, .column("due"), let constant): item["due"].map(FilterExpression.constant) == constant
                case .membership(.column("due"), let constants): constants.contains(item["due"] ?? .null)
                default: filter.matches(item)
                }
            }
        }
        StoreMutant(.query, "dates-from-1970", "Dates before 1970 count as 1970.", killedBy: "query.date.order", "query.date.parts-before-1970", saying: "due") {
            $0.computing { expression, item in
                guard expression == .column("due"), let date = item["due"]?.dateValue, date < .unixEpoch else { return nil }
                return .date(.unixEpoch)
            }
        }
        StoreMutant(.query, "dates-in-seconds", "Dates compare by whole seconds.", killedBy: "query.date.digits", saying: "due") {
            $0.computing { expression, item in
                switch expression {
                case .column("due"): item["due"]?.dateValue.map { .date($0.showing(fractionDigits: 0)) }
                case .constant(.date(let date)): .date(date.showing(fractionDigits: 0))
                default: nil
                }
            }
        }
        StoreMutant(.query, "data-by-length", "Binary data compares by its length first.", killedBy: "query.data", saying: "blob") {
            $0.matching { filter, item in
                guard case .comparison(.greater, .column("blob"), .constant(.data(let data))) = filter, let found = item["blob"]?.dataValue
                else { return filter.matches(item) }
                return found.count > data.count
            }
        }
        StoreMutant(.query, "columns-as-text", "A column on the right is not understood.", killedBy: "query.columns", "query.part.column", saying: "count") {
            $0.filtering { filter in
                switch filter {
                case .comparison(_, _, .column), .text(_, _, .column): .always(false)
                default: filter
                }
            }
        }
        StoreMutant(.query, "stale-index", "An index still lists the values of before.", killedBy: "query.fresh", saying: "found after 1 updates") { flaw in
            let old = Shared<Set<String>>([])
            flaw.upsert = { transaction, items, table in
                for item in items where item["mark"] != nil {
                    if try transaction.item(id: item.id, in: table)?["mark"] != nil { old.change { $0.insert(item.id) } }
                }
                try transaction.upsert(items, in: table)
            }
            flaw.matching { filter, item in
                if case .comparison(.equal, .column("mark"), .constant("x")) = filter, old.value.contains(item.id) { return true }
                return filter.matches(item)
            }
        }
        StoreMutant(.query, "indexed-nulls", "A null test on an indexed column finds nothing.", killedBy: "query.indexed", "query.null.test", saying: "mark") {
            $0.filtering { $0 == .nullTest(.column("mark")) ? .always(false) : $0 }
        }
        StoreMutant(.query, "in-nothing", "Membership finds nothing.", killedBy: "query.in", "query.in.many", saying: "count") {
            $0.filtering { filter in if case .membership = filter { .always(false) } else { filter } }
        }
        StoreMutant(.query, "in-empty", "Everything is in an empty list.", killedBy: "query.in.empty", saying: "count") {
            $0.filtering { filter in if case .membership(_, []) = filter { .always(true) } else { filter } }
        }
        StoreMutant(.query, "in-null", "Null is in a list with null.", killedBy: "query.in.null", saying: "count") {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.contains(.null) { filter || .nullTest(value) } else { filter }
            }
        }
        StoreMutant(.query, "in-999", "A list is cut at 999 values.", killedBy: "query.in.many", saying: "") {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.count > 999 { .membership(value, Array(list.suffix(999))) } else { filter }
            }
        }
        StoreMutant(.query, "and-as-or", "And is or.", killedBy: "query.and", "query.and.unknown", "query.nested", saying: "flag") {
            $0.filtering { filter in
                if case .all(let parts) = filter, parts.count == 2, case .comparison = parts[0], case .comparison = parts[1] { .any(parts) } else { filter }
            }
        }
        StoreMutant(.query, "or-first", "Of an or the first condition counts.", killedBy: "query.or", "query.wide", "open.many-columns", saying: "flag") {
            $0.filtering { filter in if case .any(let parts) = filter, let first = parts.first { first } else { filter } }
        }
        StoreMutant(.query, "all-of-none", "All of no conditions does not hold.", killedBy: "query.all-of-none", saying: "all") {
            $0.filtering { $0 == .all([]) ? .always(false) : $0 }
        }
        StoreMutant(.query, "always", "The constant false holds.", killedBy: "query.always", saying: "always") {
            $0.filtering { $0 == .always(false) ? .always(true) : $0 }
        }
        StoreMutant(.query, "thousand-conditions", "Of more than a thousand conditions the rest is dropped.", killedBy: "query.wide", saying: "any") {
            $0.filtering { filter in
                switch filter {
                case .any(let parts) where parts.count > 1000: .any(Array(parts.suffix(1000)))
                case .all(let parts) where parts.count > 1000: .all(Array(parts.suffix(1000)))
                default: filter
                }
            }
        }
        StoreMutant(.query, "shallow", "Filters nested deeper than five hundred levels match nothing.", killedBy: "query.deep", saying: "not") {
            $0.asking { query in
                var depth = 0
                var filter = query.filter
                while case .not(let inner)? = filter { (filter, depth) = (inner, depth + 1) }
                return depth > 500 ? query.where(.always(false)) : query
            }
        }
    }

    private static func comparing(
        _ name: String, _ flaw: String, _ changes: [Filter.Comparison: Filter.Comparison], killedBy first: String,
        _ others: String..., saying message: String
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: [first] + others, saying: message) {
            $0.filtering { filter in
                guard case .comparison(let comparison, let left, let right) = filter, let changed = changes[comparison],
                    right != .constant(.null)
                else { return filter }
                return .comparison(changed, left, right)
            }
        }
    }
}
