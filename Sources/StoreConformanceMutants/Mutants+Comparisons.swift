// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

import struct Foundation.Data

extension StoreMutant {
    /// Filters that match the wrong items.
    @MutantList static var comparisons: [StoreMutant] {
        comparing(
            "less-or-equal", "Less takes the constant in.", [.less: .lessOrEqual], killedBy: "query.less",
            saying: "count")
        comparing(
            "less", "Less or equal leaves the constant out.", [.lessOrEqual: .less],
            killedBy: "query.less-or-equal", saying: "count")
        comparing(
            "greater-or-equal", "Greater takes the constant in.", [.greater: .greaterOrEqual],
            killedBy: "query.greater", saying: "count")
        comparing(
            "greater", "Greater or equal leaves the constant out.", [.greaterOrEqual: .greater],
            killedBy: "query.greater-or-equal", saying: "count")
        comparing(
            "equal", "Not equal is equal.", [.notEqual: .equal], killedBy: "query.not-equal", saying: "count")
        comparing(
            "mirrored", "Less and greater are mixed up.", [.less: .greater, .greater: .less],
            killedBy: "query.bool.order", "query.columns", "query.id", "window.keyset", saying: "flag")
        StoreMutant(
            .query, "between-open", "An and of two comparisons leaves the upper end out.",
            killedBy: "query.between", saying: "count"
        ) {
            $0.filtering { filter in
                guard case .all(let parts) = filter, parts.count == 2,
                    case .comparison(.lessOrEqual, let left, let right) = parts[1]
                else { return filter }
                return .all([parts[0], .comparison(.less, left, right)])
            }
        }
        StoreMutant(
            .query, "equal-nothing", "Comparing with equal finds nothing.", killedBy: "query.equal",
            "query.system", "query.parameters", "open.no-columns", saying: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(.equal, _, .constant(let value)) = filter, !value.isNull {
                    .always(false)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "bool-inverted", "False is found as true.", killedBy: "query.bool", "query.not-not",
            "query.or", saying: "flag"
        ) {
            $0.filtering { filter in
                guard case .comparison(let comparison, let left, .constant(.bool(let value))) = filter else {
                    return filter
                }
                return .comparison(comparison, left, .constant(.bool(!value)))
            }
        }
        StoreMutant(
            .query, "not-equal-null", "Not equal finds nulls too.", killedBy: "query.not-equal",
            saying: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(.notEqual, let left, let right) = filter, right != .constant(.null) {
                    filter || .nullTest(left)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "not-unknown", "Not of unknown is true.", killedBy: "query.null.not", "query.in.not",
            "query.part.not", "query.and.unknown", "query.or.unknown", saying: "count"
        ) {
            $0.matching { filter, item in
                if case .not(let inner) = filter { !inner.matches(item) } else { filter.matches(item) }
            }
        }
        StoreMutant(
            .query, "null-literal", "Equal to null is unknown, as in SQL.", killedBy: "query.null.literal",
            "order.filtered", saying: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(_, _, .constant(.null)) = filter { .always(false) } else { filter }
            }
        }
        StoreMutant(
            .query, "null-left", "Null on the left is a null test too.", killedBy: "query.null.left",
            saying: "null"
        ) {
            $0.filtering { filter in
                if case .comparison(.equal, .constant(.null), let right) = filter {
                    .nullTest(right)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "null-is-least", "Null is less than any value.", killedBy: "query.less",
            "query.null.order", saying: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(.less, let left, _) = filter { filter || .nullTest(left) } else { filter }
            }
        }
        StoreMutant(
            .query, "null-order", "Null compares with null as equal.", killedBy: "query.null.order",
            saying: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(.greaterOrEqual, let left, .constant(.null)) = filter {
                    .nullTest(left)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "null-test-missing", "A null test does not find missing fields.",
            killedBy: "query.null.test", "query.null.system", saying: "count"
        ) {
            $0.matching { filter, item in
                filter.mapped { part in
                    guard case .nullTest(.column(let name)) = part else { return part }
                    return .always(item.fields[name]?.isNull ?? false)
                }.matches(item)
            }
        }
        StoreMutant(
            .query, "null-json", "A JSON column is never null.", killedBy: "query.null.json", saying: "extra"
        ) {
            $0.filtering { $0 == .nullTest(.column("extra")) ? .always(false) : $0 }
        }
        StoreMutant(
            .query, "indexed-nulls", "A null test on an indexed column finds nothing.",
            killedBy: "query.indexed", "query.null.test", saying: "mark"
        ) {
            $0.filtering { $0 == .nullTest(.column("mark")) ? .always(false) : $0 }
        }
        StoreMutant(
            .query, "in-nothing", "Membership finds nothing.", killedBy: "query.in", "query.in.many",
            saying: "count"
        ) {
            $0.filtering { filter in if case .membership = filter { .always(false) } else { filter } }
        }
        StoreMutant(
            .query, "in-empty", "Everything is in an empty list.", killedBy: "query.in.empty", saying: "count"
        ) {
            $0.filtering { filter in if case .membership(_, []) = filter { .always(true) } else { filter } }
        }
        StoreMutant(
            .query, "in-null", "Null is in a list with null.", killedBy: "query.in.null", saying: "count"
        ) {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.contains(.null) {
                    filter || .nullTest(value)
                } else {
                    filter
                }
            }
        }
        StoreMutant(.query, "in-999", "A list is cut at 999 values.", killedBy: "query.in.many", saying: "") {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.count > 999 {
                    .membership(value, Array(list.suffix(999)))
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "and-as-or", "And is or.", killedBy: "query.and", "query.and.unknown", "query.nested",
            saying: "flag"
        ) {
            $0.filtering { filter in
                if case .all(let parts) = filter, parts.count == 2, case .comparison = parts[0],
                    case .comparison = parts[1]
                {
                    .any(parts)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "or-first", "Of an or the first condition counts.", killedBy: "query.or", "query.wide",
            "open.many-columns", saying: "flag"
        ) {
            $0.filtering { filter in
                if case .any(let parts) = filter, let first = parts.first { first } else { filter }
            }
        }
        StoreMutant(
            .query, "all-of-none", "All of no conditions does not hold.", killedBy: "query.all-of-none",
            saying: "all"
        ) {
            $0.filtering { $0 == .all([]) ? .always(false) : $0 }
        }
        StoreMutant(.query, "always", "The constant false holds.", killedBy: "query.always", saying: "always")
        {
            $0.filtering { $0 == .always(false) ? .always(true) : $0 }
        }
        StoreMutant(
            .query, "thousand-conditions", "Of more than a thousand conditions the rest is dropped.",
            killedBy: "query.wide", saying: "any"
        ) {
            $0.filtering { filter in
                switch filter {
                case .any(let parts) where parts.count > 1000: .any(Array(parts.suffix(1000)))
                case .all(let parts) where parts.count > 1000: .all(Array(parts.suffix(1000)))
                default: filter
                }
            }
        }
        StoreMutant(
            .query, "shallow", "Filters nested deeper than five hundred levels match nothing.",
            killedBy: "query.deep", saying: "not"
        ) {
            $0.asking { query in
                var depth = 0
                var filter = query.filter
                while case .not(let inner)? = filter { (filter, depth) = (inner, depth + 1) }
                return depth > 500 ? query.where(.always(false)) : query
            }
        }
    }

    private static func comparing(
        _ name: String, _ flaw: String, _ changes: [Filter.Comparison: Filter.Comparison],
        killedBy first: String,
        _ others: String..., saying message: String
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: [first] + others, saying: message) {
            $0.filtering { filter in
                guard case .comparison(let comparison, let left, let right) = filter,
                    let changed = changes[comparison],
                    right != .constant(.null)
                else { return filter }
                return .comparison(changed, left, right)
            }
        }
    }
}
