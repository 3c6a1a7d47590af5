// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Orders that are wrong.
    @MutantList static var orders: [StoreMutant] {
        StoreMutant(
            .order, "as-put", "Without an order, items come in no order.", killedBy: "order.none",
            "order.id-bytes", "item.id.digits", saying: "ids of Thing"
        ) {
            $0.ordering { query, left, right in
                query.orderings.isEmpty
                    ? ExactHash.of(left.id.utf8) < ExactHash.of(right.id.utf8) : query.precedes(left, right)
            }
        }
        StoreMutant(
            .order, "random", "Items of one order come as it happens.", killedBy: "order.none",
            "model.repeats", "concurrent.readers", saying: "ids of Thing"
        ) {
            $0.answering { found, query in
                QueryResult(items: found.items.shuffled(), totalCount: found.totalCount)
            }
        }
        StoreMutant(
            .order, "ignored", "The order is ignored.", killedBy: "order.ascending", "order.bool",
            "order.date", "order.data", "order.two-keys", "order.system", "order.double",
            saying: "by count"
        ) {
            $0.asking { $0.with { $0.orderings = [] } }
        }
        StoreMutant(
            .order, "always-ascending", "Descending is ascending.", killedBy: "order.descending",
            "order.id-descending", saying: "descending"
        ) {
            $0.asking { $0.with { $0.orderings = $0.orderings.map { Ordering($0.expression) } } }
        }
        StoreMutant(
            .order, "first-key", "Only the first key counts.", killedBy: "order.two-keys",
            saying: "by mark"
        ) {
            $0.asking { $0.with { $0.orderings = Array($0.orderings.prefix(1)) } }
        }
        StoreMutant(
            .order, "nulls-last", "Nulls come last.", killedBy: "order.ascending", "order.system",
            saying: "by count"
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
            .order, "ties-descending", "Under a descending order ties go by descending id.",
            killedBy: "order.descending", "order.bool", saying: "descending"
        ) {
            $0.asking { query in
                query.orderings.last?.isDescending == true
                    ? query.with { $0.orderings.append(Ordering(.column("id"), isDescending: true)) } : query
            }
        }
        StoreMutant(
            .order, "ties-by-version", "Ties go by version.", killedBy: "order.bool", "order.system",
            saying: "by flag"
        ) {
            $0.asking { query in
                query.orderings.isEmpty
                    ? query : query.with { $0.orderings.append(Ordering(.column("version"))) }
            }
        }
        StoreMutant(
            .order, "case-blind", "Texts are ordered as in a dictionary.", killedBy: "order.text",
            "corpus.order", saying: "by label"
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
            .order, "utf16", "Ids are ordered by their UTF-16 units.", killedBy: "order.id-bytes",
            "corpus.id", saying: "all ids"
        ) {
            $0.ordering { query, left, right in
                query.orderings.isEmpty
                    ? left.id.utf16.lexicographicallyPrecedes(right.id.utf16) : query.precedes(left, right)
            }
        }
        StoreMutant(
            .order, "zero-signs", "Negative zero comes before zero.", killedBy: "order.double",
            saying: "by ratio"
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
            .order, "date-digits", "Dates of one instant are a tie.", killedBy: "order.date",
            saying: "by due descending"
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
            saying: "by count"
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
