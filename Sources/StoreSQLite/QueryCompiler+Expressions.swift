// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

// Compiles the value expressions of a filter.

extension QueryCompiler {
    /// Compiles an expression; the fragment binds at least as tightly as any operator around it.
    func value(of expression: FilterExpression, depth: Int = 0) throws(StoreError) -> SQLFragment {
        guard depth <= Self.maxDepth else {
            throw StoreError(
                .unsupported,
                "An expression is nested deeper than \(Self.maxDepth) levels, the limit of this store; simplify it."
            )
        }
        switch expression {
        case .column(let name): return try column(name, isOperand: depth > 0)
        case .constant(let constant): return try value(of: constant)
        case .arithmetic(let operation, let left, let right):
            let sides = [try value(of: left, depth: depth + 1), try value(of: right, depth: depth + 1)]
            if operation == .mod, !(left.isPlain && right.isPlain) {
                return call(SQLFunctions.remainder, sides)
            }
            return SQLFragment("(", sides, separator: operation.sqlOperator, ")")
        case .call(let function, let arguments):
            var values: [SQLFragment] = []
            for argument in arguments { values.append(try value(of: argument, depth: depth + 1)) }
            return function == .concat
                ? SQLFragment("(", values, separator: "||", ")")
                : call(SQLFunctions.name(of: function), values)
        }
    }

    func call(_ name: String, _ arguments: [SQLFragment]) -> SQLFragment {
        var call = SQLFragment(name + "(", arguments, separator: ",", ")")
        call.callsFunctions = true
        return call
    }

    /// - Parameter isOperand: whether the column is a part of an expression.
    private func column(_ name: String, isOperand: Bool) throws(StoreError) -> SQLFragment {
        // Local stores do not contain tombstones.
        if name == "deleted" { return SQLFragment("0") }
        guard let type = table.definition.type(ofColumn: name) else {
            throw StoreError(
                .unsupported,
                "The filter uses the column '\(name)', which the table \(table.name) does not declare.")
        }
        guard table.isShared else { return SQLFragment(name.quoted) }
        return switch type {
        case .bool: SQLFragment(Self.truth(name))
        // The app's column may store whole doubles as integers, which SQL divides differently.
        case .double where isOperand: SQLFragment("CAST(\(name.quoted) AS REAL)")
        case .text: SQLFragment(name.quoted + Self.byteOrder)
        default: SQLFragment(name.quoted)
        }
    }

    private func value(of constant: ItemValue) throws(StoreError) -> SQLFragment {
        switch constant {
        case .null: return SQLFragment("NULL")
        case .bool(let bool): return SQLFragment("?", [.int(bool ? 1 : 0)])
        case .int(let int): return SQLFragment("?", [.int(int)])
        case .double(let double): return SQLFragment("?", [.double(double)])
        case .text(let text): return SQLFragment("?", [.text(text)])
        case .date(let date): return SQLFragment("?", [.text(date.shortestText)])
        case .data(let data): return SQLFragment("?", [.data(data)])
        case .array, .object: throw StoreError(.unsupported, "A filter cannot compare arrays and objects.")
        }
    }

    /// Returns the type of a column or constant, or `nil` for null and for computed values, which are never dates.
    func type(of expression: FilterExpression) -> ColumnType? {
        switch expression {
        case .column(let name): table.definition.type(ofColumn: name)
        case .constant(.date): .date
        default: nil
        }
    }
}

extension FilterExpression {
    /// Whether this is a column or a constant. SQL's `%` is correct for them; a computed value may have overflowed to a
    /// double, which SQL's `%` would convert to an integer.
    fileprivate var isPlain: Bool {
        switch self {
        case .column, .constant: true
        case .arithmetic, .call: false
        }
    }
}

extension FilterExpression.Arithmetic {
    fileprivate var sqlOperator: String {
        switch self {
        case .add: "+"
        case .sub: "-"
        case .mul: "*"
        case .div: "/"
        case .mod: "%"
        }
    }
}
