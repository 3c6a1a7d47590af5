// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

// Scripts/fuzz compiles this file together with the parser.
#if canImport(TableServer)
    @testable import TableServer
#endif

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

extension ODataColumn {
    /// Returns the value in a row; null when the row does not have the field.
    func value(in row: TableRow) -> ItemValue {
        switch self {
        case .id: .text(row.id)
        case .createdAt: .date(row.createdAt)
        case .updatedAt: .date(row.updatedAt)
        case .version: .text(row.version)
        case .deleted: .bool(row.deleted)
        case .field(let name): row.fields[name] ?? .null
        }
    }
}
