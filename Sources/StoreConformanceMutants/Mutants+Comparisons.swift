// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

import struct Foundation.Data

extension StoreMutant {
    /// Filters that match the wrong items.
    @MutantList static var comparisons: [StoreMutant] {
        comparing(
            "less-or-equal", "Less includes the constant.", [.less: .lessOrEqual], killedBy: "query.less",
            message: "count")
        comparing(
            "less", "Less or equal excludes the constant.", [.lessOrEqual: .less],
            killedBy: "query.less-or-equal", message: "count")
        comparing(
            "greater-or-equal", "Greater includes the constant.", [.greater: .greaterOrEqual],
            killedBy: "query.greater", message: "count")
        comparing(
            "greater", "Greater or equal excludes the constant.", [.greaterOrEqual: .greater],
            killedBy: "query.greater-or-equal", message: "count")
        comparing(
            "equal", "Not equal is equal.", [.notEqual: .equal], killedBy: "query.not-equal", message: "count"
        )
        comparing(
            "mirrored", "Less and greater are exchanged.", [.less: .greater, .greater: .less],
            killedBy: "query.bool.order", "query.columns", "query.id", "window.keyset", message: "flag")
        StoreMutant(
            .query, "between-open", "A conjunction of two comparisons excludes the upper bound.",
            killedBy: "query.between", message: "count"
        ) {
            $0.filtering { filter in
                guard case .all(let parts) = filter, parts.count == 2,
                    case .comparison(.lessOrEqual, let left, let right) = parts[1]
                else { return filter }
                return .all([parts[0], .comparison(.less, left, right)])
            }
        }
        StoreMutant(
            .query, "equal-nothing", "Equal matches nothing.", killedBy: "query.equal",
            "query.system", "query.parameters", "open.no-columns", message: "count"
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
            .query, "bool-inverted", "True and false are exchanged.", killedBy: "query.bool", "query.not-not",
            "query.or", message: "flag"
        ) {
            $0.filtering { filter in
                guard case .comparison(let comparison, let left, .constant(.bool(let value))) = filter else {
                    return filter
                }
                return .comparison(comparison, left, .constant(.bool(!value)))
            }
        }
        StoreMutant(
            .query, "not-equal-null", "Not equal matches null.", killedBy: "query.not-equal",
            message: "count"
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
            .query, "not-unknown", "The negation of unknown is true.", killedBy: "query.null.not",
            "query.in.not",
            "query.part.not", "query.and.unknown", "query.or.unknown", message: "count"
        ) {
            $0.matching { filter, item in
                if case .not(let inner) = filter { !inner.matches(item) } else { filter.matches(item) }
            }
        }
        StoreMutant(
            .query, "null-literal", "Equal to null is unknown, as in SQL.", killedBy: "query.null.literal",
            "order.filtered", message: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(_, _, .constant(.null)) = filter { .always(false) } else { filter }
            }
        }
        StoreMutant(
            .query, "null-left", "Null on the left side is a null test.", killedBy: "query.null.left",
            message: "null"
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
            "query.null.order", message: "count"
        ) {
            $0.filtering { filter in
                if case .comparison(.less, let left, _) = filter { filter || .nullTest(left) } else { filter }
            }
        }
        StoreMutant(
            .query, "null-order", "Null equals null in an order comparison.", killedBy: "query.null.order",
            message: "count"
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
            .query, "null-test-missing", "A null test does not match missing fields.",
            killedBy: "query.null.test", "query.null.system", message: "count"
        ) {
            $0.matching { filter, item in
                filter.mapped { part in
                    guard case .nullTest(.column(let name)) = part else { return part }
                    return .always(item.fields[name]?.isNull ?? false)
                }.matches(item)
            }
        }
        StoreMutant(
            .query, "null-json", "A JSON column is never null.", killedBy: "query.null.json", message: "extra"
        ) {
            $0.filtering { $0 == .nullTest(.column("extra")) ? .always(false) : $0 }
        }
        StoreMutant(
            .query, "indexed-nulls", "A null test on an indexed column matches nothing.",
            killedBy: "query.indexed", "query.null.test", message: "mark"
        ) {
            $0.filtering { $0 == .nullTest(.column("mark")) ? .always(false) : $0 }
        }
        StoreMutant(
            .query, "in-nothing", "Membership matches nothing.", killedBy: "query.in", "query.in.many",
            message: "count"
        ) {
            $0.filtering { filter in if case .membership = filter { .always(false) } else { filter } }
        }
        StoreMutant(
            .query, "in-empty", "Every value is in an empty list.", killedBy: "query.in.empty",
            message: "count"
        ) {
            $0.filtering { filter in if case .membership(_, []) = filter { .always(true) } else { filter } }
        }
        StoreMutant(
            .query, "in-null", "Null is in a list that contains null.", killedBy: "query.in.null",
            message: "count"
        ) {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.contains(.null) {
                    filter || .nullTest(value)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "in-999", "A list is truncated to 999 values.", killedBy: "query.in.many", message: ""
        ) {
            $0.filtering { filter in
                if case .membership(let value, let list) = filter, list.count > 999 {
                    .membership(value, Array(list.suffix(999)))
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "and-as-or", "And works as or.", killedBy: "query.and", "query.and.unknown",
            "query.nested",
            message: "flag"
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
            .query, "or-first", "Or uses only the first condition.", killedBy: "query.or", "query.wide",
            "open.many-columns", message: "flag"
        ) {
            $0.filtering { filter in
                if case .any(let parts) = filter, let first = parts.first { first } else { filter }
            }
        }
        StoreMutant(
            .query, "all-of-none", "All of no conditions is false.", killedBy: "query.all-of-none",
            message: "all"
        ) {
            $0.filtering { $0 == .all([]) ? .always(false) : $0 }
        }
        StoreMutant(
            .query, "always", "The constant false matches every item.", killedBy: "query.always",
            message: "always"
        ) {
            $0.filtering { $0 == .always(false) ? .always(true) : $0 }
        }
        StoreMutant(
            .query, "thousand-conditions", "More than a thousand operands are truncated.",
            killedBy: "query.wide", message: "any"
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
            killedBy: "query.deep", message: "not"
        ) {
            $0.changingQuery { query in
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
        _ others: String..., message: String
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: [first] + others, message: message) {
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
