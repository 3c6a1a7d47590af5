// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Compiles queries on one table to SQL with the same results as ``TableQuery/apply(to:)``.
///
/// Values are always parameters. SQL operators are used where their semantics are the same; otherwise the SQL calls
/// functions that use the reference implementation.
struct QueryCompiler {
    let table: ItemTable

    /// Limits recursion; SQLite's parser itself accepts fewer than 100 nested parentheses.
    static let maxDepth = 200
    /// SQLite limits expression depth, and a chain of operators is as deep as it is long.
    static let maxChainLength = 32
    /// The number of parameters that every build of SQLite accepts, without that of an offset.
    static let maxValueCount = 32_765
    /// The longest list of constants that is compiled to parameters.
    static let maxListLength = 8_000

    /// Compiles the filter to an SQL condition.
    ///
    /// - Throws: ``StoreError/Code/unsupported`` when the filter exceeds SQLite's limits.
    func condition(_ filter: Filter) throws(StoreError) -> SQLFragment {
        let fragment = try condition(filter, isNegated: false, depth: 0)
        guard fragment.values.count <= Self.maxValueCount else {
            throw StoreError(
                .unsupported,
                "A filter has more than \(Self.maxValueCount) constants, SQLite's limit; split the query.")
        }
        return fragment
    }

    func whereClause(_ condition: SQLFragment?) -> SQLFragment {
        condition.map { SQLFragment(" WHERE ", [$0], separator: "", "") } ?? SQLFragment("")
    }

    /// Compiles the ordering and the window. SQLite orders nulls first, as the reference does.
    ///
    /// The offset is a parameter, so that all pages of a query use one prepared statement. With the limit in its text, SQLite
    /// chooses the fastest plan for that number of rows.
    func orderAndWindow(of query: TableQuery) -> SQLFragment {
        var keys: [String] = []
        for ordering in query.orderings {
            // Skips constants: they do not affect the order, and SQLite would read an integer as a column position.
            guard case .column(let name) = ordering.expression, name != "deleted",
                table.definition.type(ofColumn: name) != nil
            else { continue }
            keys.append(orderingKey(name) + (ordering.isDescending ? " DESC" : ""))
        }
        // The unary plus prevents SQLite from walking the index of ids with one table lookup per row, which is slower
        // than a table scan and a sort. Only the first rows of a table, or from an id on, are faster with the index.
        let isRangeOfIDs = query.filter.map { $0.lowestID != nil } ?? true
        let isFasterByIndex = isRangeOfIDs && query.limit != nil && keys.isEmpty
        keys.append(isFasterByIndex ? "\"id\"" : "+\"id\"")
        var clause = SQLFragment(" ORDER BY " + keys.joined(separator: ","))
        let hasOffset = query.offset > 0
        if query.limit != nil || hasOffset { clause.sql += " LIMIT \(query.limit ?? -1)" }
        if hasOffset {
            clause.sql += " OFFSET ?"
            clause.values = [.int(Int64(query.offset))]
        }
        // A limit of a page is used again; a greater one may have grown with a list.
        clause.isRarelyRepeated = query.limit.map { $0 > 1000 } ?? false
        clause.callsFunctions = orderCallsFunctions(of: query)
        return clause
    }

    private func orderingKey(_ name: String) -> String {
        guard table.isShared else { return name.quoted }
        return switch table.definition.type(ofColumn: name) {
        case .bool: Self.truth(name)
        case .date: "\(SQLFunctions.date)(\(name.quoted))"
        case .text: name.quoted + Self.byteOrder
        default: name.quoted
        }
    }

    /// Returns whether the ordering calls one of ``SQLFunctions``.
    private func orderCallsFunctions(of query: TableQuery) -> Bool {
        table.isShared
            && query.orderings.contains { ordering in
                guard case .column(let name) = ordering.expression else { return false }
                return table.definition.type(ofColumn: name) == .date
            }
    }

    /// A Boolean of the app's column, in which every number except 0 is true.
    static func truth(_ column: String) -> String { "(\(column.quoted)<>0)" }

    /// Overrides a collation that the app declared for its column.
    static let byteOrder = " COLLATE BINARY"
}

// MARK: - Connectives

extension QueryCompiler {
    private enum Connective {
        case and, or

        var separator: String { self == .and ? " AND " : " OR " }
    }

    /// Compiles the filter or its negation. Pushes negations down to the predicates, so that they add no nesting.
    private func condition(
        _ filter: Filter, isNegated: Bool, depth: Int
    ) throws(StoreError) -> SQLFragment {
        guard depth <= Self.maxDepth else {
            throw StoreError(
                .unsupported,
                "A filter is nested deeper than \(Self.maxDepth) levels, the limit of this store; simplify it."
            )
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

    /// Removes negations and connectives with one operand, iteratively.
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

    /// Returns the operands of the connective, with nested lists of the same connective flattened.
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

    /// Joins the conditions; groups them recursively when a chain would be too long.
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
        // Uses less of the parser's stack: the most nested condition first.
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
