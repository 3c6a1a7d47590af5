// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

// Compiles the predicates of a filter, without connectives.

extension QueryCompiler {
    func predicate(_ filter: Filter) throws(StoreError) -> SQLFragment {
        switch filter {
        case .comparison(let comparison, let left, let right):
            return try comparing(left, comparison, right)
        case .nullTest(let expression):
            return try isNull(expression)
        case .membership(let expression, let constants):
            return try membership(of: expression, in: constants)
        case .text(let test, let text, let part):
            return try testing(text, test, part)
        case .always, .all, .any, .not:
            throw StoreError(.unsupported, "A connective is not a predicate.")
        }
    }

    private func isNull(_ expression: FilterExpression, isNegated: Bool = false) throws(StoreError)
        -> SQLFragment
    {
        let value = try value(of: expression)
        guard table.isShared, type(of: expression) == .json else {
            return SQLFragment("", [value], separator: "", isNegated ? " IS NOT NULL" : " IS NULL")
        }
        // The app's column may contain the JSON text `null`, with whitespace around it.
        let test = ",char(9,10,13,32)),'null')" + (isNegated ? "<>'null'" : "='null'")
        var fragment = SQLFragment("ifnull(trim(", [value], separator: "", test)
        fragment.nesting += 1
        return fragment
    }

    private func comparing(
        _ left: FilterExpression, _ comparison: Filter.Comparison, _ right: FilterExpression
    ) throws(StoreError) -> SQLFragment {
        if case .constant(.null) = right, comparison == .equal || comparison == .notEqual {
            return try isNull(left, isNegated: comparison == .notEqual)
        }
        if isDate(left) || isDate(right) { return try comparingDates(left, comparison, right) }
        let sides = [try value(of: left), try value(of: right)]
        return SQLFragment("", sides, separator: comparison.sqlOperator, "")
    }

    private func membership(
        of expression: FilterExpression, in constants: [ItemValue]
    ) throws(StoreError) -> SQLFragment {
        guard !constants.isEmpty else { return SQLFragment("0") }
        let needle = try isDate(expression) ? instant(of: expression) : value(of: expression)
        if constants.count > Self.maxListLength {
            let instants = constants.map { value in
                if case .date(let date) = value { ItemValue.text(date.shortestText) } else { value }
            }
            var call = SQLFragment(
                SQLFunctions.contains + "(",
                [needle, SQLFragment("?", [.set(SQLValueSet(instants))])], separator: ",", ")")
            call.callsFunctions = true
            return call
        }
        var list: [SQLFragment] = []
        for constant in constants { list.append(try value(of: .constant(constant))) }
        let constants = SQLFragment("", list, separator: ",", "")
        var fragment = SQLFragment("", [needle, constants], separator: " IN (", ")")
        fragment.nesting += 1
        fragment.isRarelyRepeated = true
        return fragment
    }

    private func testing(
        _ text: FilterExpression, _ test: Filter.TextTest, _ part: FilterExpression
    ) throws(StoreError) -> SQLFragment {
        let sides = [try value(of: text), try value(of: part)]
        switch (test, text, part) {
        case (.hasPrefix, .column, .constant(.text(let prefix))):
            // Strings with the same prefix are contiguous in byte order, so an index finds them.
            guard let last = prefix.utf8.last else { return SQLFragment("", sides, separator: ">=", "") }
            let end = SQLFragment("?", [.bytes(Array(prefix.utf8.dropLast()) + [last + 1])])
            let below = SQLFragment("", [sides[0], end], separator: "<", "")
            return SQLFragment(
                "(", [SQLFragment("", sides, separator: ">=", ""), below], separator: " AND ", ")")
        case (.contains, _, _):
            return SQLFragment("instr(", sides, separator: ",", ")>0")
        default:
            var call = SQLFragment(SQLFunctions.name(of: test) + "(", sides, separator: ",", ")")
            call.callsFunctions = true
            return call
        }
    }
}

// MARK: - Dates

// The texts of one instant differ only in trailing zeros; in byte order they are the range between the shortest and
// the longest of them.

extension QueryCompiler {
    private func isDate(_ expression: FilterExpression) -> Bool { type(of: expression) == .date }

    private func comparingDates(
        _ left: FilterExpression, _ comparison: Filter.Comparison, _ right: FilterExpression
    ) throws(StoreError) -> SQLFragment {
        switch (left, right) {
        case (.column, .constant(.date(let date))) where !table.isShared:
            return comparing(try value(of: left), comparison, date)
        case (.constant(.date(let date)), .column) where !table.isShared:
            return comparing(try value(of: right), comparison.mirrored, date)
        default:
            return SQLFragment(
                "", [try instant(of: left), try instant(of: right)], separator: comparison.sqlOperator, "")
        }
    }

    /// Compares with a range of texts, so that SQLite can use an index.
    private func comparing(
        _ column: SQLFragment, _ comparison: Filter.Comparison, _ date: Timestamp
    ) -> SQLFragment {
        let first = SQLFragment("?", [.text(date.shortestText)])
        let last = SQLFragment("?", [.text(date.showing(fractionDigits: 9).localText)])
        let range = SQLFragment("", [first, last], separator: " AND ", "")
        return switch comparison {
        case .equal: SQLFragment("", [column, range], separator: " BETWEEN ", "")
        case .notEqual: SQLFragment("", [column, range], separator: " NOT BETWEEN ", "")
        case .less: SQLFragment("", [column, first], separator: "<", "")
        case .lessOrEqual: SQLFragment("", [column, last], separator: "<=", "")
        case .greater: SQLFragment("", [column, last], separator: ">", "")
        case .greaterOrEqual: SQLFragment("", [column, first], separator: ">=", "")
        }
    }

    /// Compiles a date expression to the shortest text of its instant.
    private func instant(of expression: FilterExpression) throws(StoreError) -> SQLFragment {
        let text = try value(of: expression)
        guard case .column = expression else { return text }
        if table.isShared { return call(SQLFunctions.instant, [text]) }
        let trimmed =
            "CASE WHEN length(\(text.sql))>19 THEN rtrim(rtrim(\(text.sql),'0'),'.') ELSE \(text.sql) END"
        return SQLFragment(trimmed)
    }
}

extension Timestamp {
    /// The shortest text of this instant, the first in byte order.
    var shortestText: String {
        var digits = Int(fractionDigits)
        while digits > 0, showing(fractionDigits: digits - 1).isSameInstant(as: self) { digits -= 1 }
        return showing(fractionDigits: digits).localText
    }
}

extension Filter.Comparison {
    fileprivate var sqlOperator: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
