// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Turns the queries on one table into SQL that finds exactly what ``TableQuery/apply(to:)`` finds.
///
/// Values are never part of the text. SQL's own operators are used where they mean the same; the rest are
/// functions that call the reference.
struct QueryCompiler {
    let table: ItemTable

    /// SQLite's parser takes less than 100 parentheses inside each other.
    static let maxDepth = 200
    /// SQLite limits how deep an expression may be, and a chain of operators is as deep as it is long.
    static let maxChainLength = 32
    /// The number of placeholders that every build of SQLite accepts.
    static let maxValueCount = 32_766
    /// The longest list of constants that becomes placeholders.
    static let maxListLength = 8_000

    /// The filter as a condition.
    ///
    /// - Throws: ``StoreError/Code/unsupported`` when it is too deep or too large for SQLite.
    func condition(_ filter: Filter) throws(StoreError) -> SQLFragment {
        let fragment = try condition(filter, isNegated: false, depth: 0)
        guard fragment.values.count <= Self.maxValueCount else {
            throw StoreError(.unsupported, "A filter has more than \(Self.maxValueCount) constants.")
        }
        return fragment
    }

    func whereClause(_ condition: SQLFragment?) -> String {
        condition.map { " WHERE " + $0.sql } ?? ""
    }

    /// The order, which SQLite gives nulls as the reference does, and the window.
    func orderAndWindow(of query: TableQuery) -> String {
        var keys: [String] = []
        for ordering in query.orderings {
            // Constants do not order anything; SQLite would take a number for the position of a column.
            guard case .column(let name) = ordering.expression, name != "deleted",
                table.definition.type(ofColumn: name) != nil
            else { continue }
            keys.append(orderingKey(name) + (ordering.isDescending ? " DESC" : ""))
        }
        // A plus sign keeps SQLite from walking the index of ids, with a look into the table for every row, when it
        // can go through the table and sort what matches. Only the beginning of the whole table is better off.
        let isBeginningOfAll = query.filter == nil && query.limit != nil && keys.isEmpty
        keys.append(isBeginningOfAll ? "\"id\"" : "+\"id\"")
        var clause = " ORDER BY " + keys.joined(separator: ",")
        if query.limit != nil || query.offset != 0 {
            clause += " LIMIT \(query.limit ?? -1) OFFSET \(max(query.offset, 0))"
        }
        return clause
    }

    private func orderingKey(_ name: String) -> String {
        guard table.isShared else { return name.quoted }
        return switch table.definition.type(ofColumn: name) {
        case .date: "\(SQLFunctions.instant)(\(name.quoted))"
        case .text: name.quoted + Self.byteOrder
        default: name.quoted
        }
    }

    /// Whether the order calls one of ``SQLFunctions``.
    func orderCallsFunctions(of query: TableQuery) -> Bool {
        table.isShared
            && query.orderings.contains { ordering in
                guard case .column(let name) = ordering.expression else { return false }
                return table.definition.type(ofColumn: name) == .date
            }
    }

    /// An app may have declared another collation for its column.
    static let byteOrder = " COLLATE BINARY"
}

// MARK: - Connectives

extension QueryCompiler {
    private enum Connective {
        case and, or

        var opposite: Connective { self == .and ? .or : .and }
        var separator: String { self == .and ? " AND " : " OR " }
    }

    /// The filter, or its negation: `NOT` is moved down to the single conditions, so that it nests nothing.
    private func condition(
        _ filter: Filter, isNegated: Bool, depth: Int
    ) throws(StoreError) -> SQLFragment {
        guard depth <= Self.maxDepth else {
            throw StoreError(.unsupported, "A filter is nested deeper than \(Self.maxDepth) levels.")
        }
        let (filter, isNegated) = Self.unwrapped(filter, isNegated: isNegated)
        switch filter {
        case .all, .any:
            let connective = Self.connective(of: filter, isNegated: isNegated) ?? .and
            var parts: [SQLFragment] = []
            for (part, isNegated) in Self.flattened(filter, isNegated: isNegated, connective) {
                parts.append(try condition(part, isNegated: isNegated, depth: depth + 1))
            }
            return Self.joined(parts, connective)
        case .always(let value):
            return SQLFragment(value != isNegated ? "1" : "0")
        default:
            let fragment = try predicate(filter)
            return isNegated ? SQLFragment("NOT (", [fragment], separator: "", ")") : fragment
        }
    }

    /// Takes off negations and lists of one, however many.
    private static func unwrapped(_ filter: Filter, isNegated: Bool) -> (Filter, isNegated: Bool) {
        var (filter, isNegated) = (filter, isNegated)
        while true {
            switch filter {
            case .not(let inner): (filter, isNegated) = (inner, !isNegated)
            case .all(let filters) where filters.count == 1: filter = filters[0]
            case .any(let filters) where filters.count == 1: filter = filters[0]
            default: return (filter, isNegated)
            }
        }
    }

    private static func connective(of filter: Filter, isNegated: Bool) -> Connective? {
        switch filter {
        case .all: isNegated ? .or : .and
        case .any: isNegated ? .and : .or
        default: nil
        }
    }

    /// The conditions that the connective joins, those of lists inside lists included.
    private static func flattened(
        _ filter: Filter, isNegated: Bool, _ connective: Connective
    ) -> [(Filter, isNegated: Bool)] {
        var flat: [(Filter, isNegated: Bool)] = []
        var pending = [(filter, isNegated: isNegated)]
        while let next = pending.popLast() {
            let (filter, isNegated) = unwrapped(next.0, isNegated: next.isNegated)
            switch filter {
            case .all(let filters) where Self.connective(of: filter, isNegated: isNegated) == connective,
                .any(let filters) where Self.connective(of: filter, isNegated: isNegated) == connective:
                pending.append(contentsOf: filters.reversed().map { ($0, isNegated: isNegated) })
            default:
                flat.append((filter, isNegated))
            }
        }
        return flat
    }

    /// The conditions joined, in groups of groups when there are many.
    private static func joined(_ parts: [SQLFragment], _ connective: Connective) -> SQLFragment {
        guard parts.count > 1 else {
            return parts.first ?? SQLFragment(connective == .and ? "1" : "0")
        }
        var parts = parts
        if connective == .and {
            for index in parts.indices where parts[index].isAlternative {
                parts[index] = SQLFragment("(", [parts[index]], separator: "", ")")
            }
        }
        // The parser holds less on its stack when the deepest comes first.
        if let deepest = parts.indices.max(by: { parts[$0].nesting < parts[$1].nesting }) {
            parts.swapAt(0, deepest)
        }
        while parts.count > maxChainLength {
            parts = stride(from: 0, to: parts.count, by: maxChainLength).map { start in
                let group = Array(parts[start..<min(start + maxChainLength, parts.count)])
                return SQLFragment("(", group, separator: connective.separator, ")")
            }
        }
        var whole = SQLFragment("", parts, separator: connective.separator, "")
        whole.isAlternative = connective == .or
        return whole
    }
}
