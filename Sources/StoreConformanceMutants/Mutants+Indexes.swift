// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Errors in indexes, and in the search for a part of a text.
    @MutantList static var indexes: [StoreMutant] {
        StoreMutant(
            .query, "index-integer-bits", "An index compares the bits of integers as unsigned numbers.",
            killedBy: "query.indexed.integer", message: "Indexed where integer"
        ) {
            $0.readingIndex(of: "integer") { $0.intValue.map { UInt64(bitPattern: $0) } }
        }
        StoreMutant(
            .query, "index-double-bits", "An index compares the bits of doubles.",
            killedBy: "query.indexed.double", message: "Indexed where double"
        ) {
            $0.readingIndex(of: "double") { $0.doubleValue?.bitPattern }
        }
        StoreMutant(
            .query, "index-date-32", "An index has the seconds of dates as 32 bits.",
            killedBy: "query.indexed.date", message: "Indexed where date"
        ) {
            $0.readingIndex(of: "date") { value in
                value.dateValue.map { UInt64(UInt32(truncatingIfNeeded: $0.seconds)) }
            }
        }
        StoreMutant(
            .query, "index-true-only", "An index of Booleans contains only true.",
            killedBy: "query.indexed.bool", message: "Indexed where bool"
        ) {
            $0.readingIndex(of: "bool") { $0.boolValue == true ? 1 : nil }
        }
        StoreMutant(
            .query, "index-data-number", "An index compares the first bytes of binary data as a number.",
            killedBy: "query.indexed.data", message: "Indexed where data"
        ) {
            $0.readingIndex(of: "data") { value in
                value.dataValue.map { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
            }
        }
        StoreMutant(
            .order, "index-bits", "The order by an indexed number is that of its bits.",
            killedBy: "order.indexed", message: "Indexed by integer"
        ) {
            $0.ordering { query, left, right in
                guard let order = query.orderings.first, case .column(let name) = order.expression,
                    let first = Self.bits(left, name), let second = Self.bits(right, name), first != second
                else { return query.precedes(left, right) }
                return order.isDescending ? first > second : first < second
            }
        }
        StoreMutant(
            .order, "index-limit-first",
            "The order by an indexed column reads the first items of the index before it filters them.",
            killedBy: "order.indexed.filtered", message: "limit 3"
        ) { flaw in
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                guard query.table == Fixture.indexed.name, query.limit != nil, !query.orderings.isEmpty else {
                    return right
                }
                let first = try snapshot.items(matching: query.with { $0.filter = nil }).items
                let left = first.filter { query.filter?.matches($0) ?? true }
                return hits.changing(right, to: QueryResult(items: left, totalCount: right.totalCount))
            }
        }
        StoreMutant(
            .query, "part-escapes", "Contains ignores backslashes in the part that it searches for.",
            killedBy: "corpus.part", message: "contains 'a backslash'"
        ) {
            $0.filtering { filter in
                guard case .text(.contains, let text, .constant(.text(let part))) = filter else {
                    return filter
                }
                let cut = part.replacingOccurrences(of: "\\", with: "")
                return .text(.contains, text, .constant(.text(cut)))
            }
        }
    }

    /// Returns the bits of a number in an indexed column.
    private static func bits(_ item: Item, _ column: String) -> UInt64? {
        switch (column, item[column]) {
        case ("integer", .int(let int)?): UInt64(bitPattern: int)
        case ("double", .double(let double)?): double.bitPattern
        default: nil
        }
    }
}

extension StoreFlaw {
    /// Answers comparisons of a column by reading a range of its index, which contains the items that have a key.
    fileprivate mutating func readingIndex(
        of column: String, key: @escaping @Sendable (ItemValue) -> UInt64?
    ) {
        matching { filter, item in
            guard filter.matches(item) else { return false }
            guard case .comparison(let comparison, .column(column), .constant(let constant)) = filter,
                !constant.isNull
            else { return true }
            guard let found = item[column].flatMap(key) else { return false }
            guard let bound = key(constant) else { return true }
            switch comparison {
            case .equal, .notEqual: return true
            case .less, .lessOrEqual: return found <= bound
            case .greater, .greaterOrEqual: return found >= bound
            }
        }
    }
}
