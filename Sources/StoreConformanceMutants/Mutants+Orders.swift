// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Errors in orderings.
    @MutantList static var orders: [StoreMutant] {
        StoreMutant(
            .order, "as-put", "Without an ordering, items are in hash order.", killedBy: "order.none",
            "order.id-bytes", "item.id.digits", message: "ids of Thing"
        ) {
            $0.ordering { query, left, right in
                query.orderings.isEmpty
                    ? FNV1a.hash(left.id.utf8) < FNV1a.hash(right.id.utf8) : query.precedes(left, right)
            }
        }
        StoreMutant(
            .order, "random", "Items are in random order.", killedBy: "order.none",
            "model.repeats", "concurrent.readers", message: "ids of Thing"
        ) {
            $0.changingResult { found, query in
                QueryResult(items: found.items.shuffled(), totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .order, "ignored", "The ordering is ignored.", killedBy: "order.ascending", "order.bool",
            "order.date", "order.data", "order.two-keys", "order.system", "order.double",
            message: "by count"
        ) {
            $0.changingQuery { $0.with { $0.orderings = [] } }
        }
        StoreMutant(
            .order, "always-ascending", "Descending orderings are ascending.", killedBy: "order.descending",
            "order.id-descending", message: "descending"
        ) {
            $0.changingQuery { $0.with { $0.orderings = $0.orderings.map { Ordering($0.expression) } } }
        }
        StoreMutant(
            .order, "first-key", "Only the first key is used.", killedBy: "order.two-keys",
            message: "by mark"
        ) {
            $0.changingQuery { $0.with { $0.orderings = Array($0.orderings.prefix(1)) } }
        }
        StoreMutant(
            .order, "nulls-last", "Nulls come last.", killedBy: "order.ascending", "order.system",
            message: "by count"
        ) {
            $0.ordering { query, left, right in
                guard let first = query.orderings.first else { return query.precedes(left, right) }
                let nulls = (
                    first.expression.value(for: left).isNull, first.expression.value(for: right).isNull
                )
                return nulls.0 == nulls.1 ? query.precedes(left, right) : nulls.1
            }
        }
        StoreMutant(
            .order, "ties-descending", "Ties of a descending ordering are in descending order of ids.",
            killedBy: "order.descending", "order.bool", message: "descending"
        ) {
            $0.changingQuery { query in
                query.orderings.last?.isDescending == true
                    ? query.with { $0.orderings.append(Ordering(.column("id"), isDescending: true)) } : query
            }
        }
        StoreMutant(
            .order, "ties-by-version", "Ties are ordered by version.", killedBy: "order.bool", "order.system",
            message: "by flag"
        ) {
            $0.changingQuery { query in
                query.orderings.isEmpty
                    ? query : query.with { $0.orderings.append(Ordering(.column("version"))) }
            }
        }
        StoreMutant(
            .order, "case-blind", "Strings are ordered case-insensitively.", killedBy: "order.text",
            "corpus.order", message: "by label"
        ) {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("label"),
                    query.orderings.first?.isDescending == false,
                    let first = left["label"]?.textValue?.lowercased(),
                    let second = right["label"]?.textValue?.lowercased(), first != second
                else { return query.precedes(left, right) }
                return first < second
            }
        }
        StoreMutant(
            .order, "utf16", "Ids are ordered by UTF-16 code units.", killedBy: "order.id-bytes",
            "corpus.id", message: "all ids"
        ) {
            $0.ordering { query, left, right in
                query.orderings.isEmpty
                    ? left.id.utf16.lexicographicallyPrecedes(right.id.utf16) : query.precedes(left, right)
            }
        }
        StoreMutant(
            .order, "zero-signs", "Negative zero comes before zero.", killedBy: "order.double",
            message: "by ratio"
        ) {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("ratio"),
                    let first = left["ratio"]?.doubleValue, let second = right["ratio"]?.doubleValue,
                    first == 0, second == 0, first.sign != second.sign
                else { return query.precedes(left, right) }
                return first.sign == .plus
            }
        }
        StoreMutant(
            .order, "date-digits", "Dates of the same instant are ties.", killedBy: "order.date",
            message: "by due descending"
        ) {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("due"), let first = left["due"]?.dateValue,
                    let second = right["due"]?.dateValue,
                    first.isSameInstant(as: second)
                else { return query.precedes(left, right) }
                return left.id < right.id
            }
        }
        StoreMutant(
            .order, "integers-as-doubles", "Integers are ordered as doubles.", killedBy: "order.ascending",
            message: "by count"
        ) {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("count"),
                    let first = left["count"]?.doubleValue, let second = right["count"]?.doubleValue,
                    first == second
                else { return query.precedes(left, right) }
                return left.id < right.id
            }
        }
    }
}
