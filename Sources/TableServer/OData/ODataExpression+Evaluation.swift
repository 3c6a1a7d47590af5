// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ODataExpression {
    /// Whether the condition is true for the row. Unknown does not match.
    func matches(_ row: TableRow) -> Bool {
        value(in: row).boolValue == true
    }

    /// Returns the value for a row. A condition is true, false, or null when unknown, as in SQL.
    func value(in row: TableRow) -> ItemValue {
        switch self {
        case .literal(let value): value
        case .column(let column): column.value(in: row)
        case .negative(let operand):
            Arithmetic.sub.apply(.int(0), operand.value(in: row))
        case .arithmetic(let arithmetic, let left, let right):
            arithmetic.apply(left.value(in: row), right.value(in: row))
        case .comparison(.eq, let operand, .literal(.null)), .comparison(.eq, .literal(.null), let operand):
            .bool(operand.value(in: row).isNull)
        case .comparison(.ne, let operand, .literal(.null)), .comparison(.ne, .literal(.null), let operand):
            .bool(!operand.value(in: row).isNull)
        case .comparison(let comparison, let left, let right):
            comparison.apply(left.value(in: row), right.value(in: row))
        case .call(let function, let arguments):
            function.apply(arguments.map { $0.value(in: row) })
        case .not(let operand):
            operand.value(in: row).boolValue.map { .bool(!$0) } ?? .null
        case .all(let operands): Self.combine(operands, decisive: false, row)
        case .any(let operands): Self.combine(operands, decisive: true, row)
        }
    }

    /// Three-valued logic of `and` and `or`: a decisive operand determines the result; otherwise an unknown operand
    /// makes it unknown.
    private static func combine(
        _ operands: [ODataExpression], decisive: Bool, _ row: TableRow
    ) -> ItemValue {
        var isKnown = true
        for operand in operands {
            let value = operand.value(in: row).boolValue
            if value == decisive { return .bool(decisive) }
            if value == nil { isKnown = false }
        }
        return isKnown ? .bool(!decisive) : .null
    }
}

extension ODataExpression.Comparison {
    /// Compares two values. Returns null when one is null, and for an order of values of different types.
    func apply(_ left: ItemValue, _ right: ItemValue) -> ItemValue {
        if left.isNull || right.isNull { return .null }
        guard let order = left.order(to: right) else {
            return switch self {
            case .eq: false
            case .ne: true
            case .gt, .ge, .lt, .le: .null
            }
        }
        return switch self {
        case .eq: .bool(order == .same)
        case .ne: .bool(order != .same)
        case .gt: .bool(order == .after)
        case .ge: .bool(order != .before)
        case .lt: .bool(order == .before)
        case .le: .bool(order != .after)
        }
    }
}

extension ODataExpression.Arithmetic {
    /// Computes a result. Integers overflow to doubles; integer division by zero is null.
    func apply(_ left: ItemValue, _ right: ItemValue) -> ItemValue {
        if case .int(let a) = left, case .int(let b) = right {
            if b == 0, self == .div || self == .mod { return .null }
            let (result, overflow) =
                switch self {
                case .add: a.addingReportingOverflow(b)
                case .sub: a.subtractingReportingOverflow(b)
                case .mul: a.multipliedReportingOverflow(by: b)
                case .div: a.dividedReportingOverflow(by: b)
                case .mod: a.remainderReportingOverflow(dividingBy: b)
                }
            if !overflow { return .int(result) }
            if self == .mod { return .int(0) }
        }
        guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
        let result: Double? =
            switch self {
            case .add: a + b
            case .sub: a - b
            case .mul: a * b
            case .div: a / b
            case .mod: nil
            }
        guard let result, !result.isNaN, self != .div || b != 0 else { return .null }
        return .double(result)
    }
}
