// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Compiles filters. A condition is true, false or null as in SQL; a value is null or has the form that the functions
/// `odata_…` of the database take and return.
extension SQLText {
    mutating func append(condition: ODataExpression) {
        switch condition {
        case .literal(let value):
            append(value.boolValue.map { $0 ? "TRUE" : "FALSE" } ?? "NULL")
        case .comparison(.eq, .column(let column), .literal(.null)) where !column.isField:
            // A condition without a function call for each row.
            append("FALSE")
        case .comparison(.ne, .column(let column), .literal(.null)) where !column.isField:
            append("TRUE")
        case .comparison(.eq, let operand, .literal(.null)), .comparison(.eq, .literal(.null), let operand):
            append(value: operand)
            append(" IS NULL")
        case .comparison(.ne, let operand, .literal(.null)), .comparison(.ne, .literal(.null), let operand):
            append(value: operand)
            append(" IS NOT NULL")
        case .comparison(let comparison, let left, let right):
            for (comparison, left, right) in [
                (comparison, left, right), (comparison.reversed, right, left),
            ] where appendNative(comparison, left, right) || appendField(comparison, left, right) { return }
            appendCall("odata_\(comparison)", [left, right])
        case .not(let operand):
            append("NOT ")
            append(operand: operand)
        case .all(let operands): append(operands[...], joinedBy: " AND ")
        case .any(let operands): append(operands[...], joinedBy: " OR ")
        case .column, .call, .negative, .arithmetic:
            appendCall("odata_truth", [condition])
        }
    }

    /// A balanced tree: databases limit the depth of an expression, and a chain of thousands of alternatives is deep.
    private mutating func append(_ operands: ArraySlice<ODataExpression>, joinedBy name: String) {
        guard operands.count > 1 else {
            for operand in operands { append(operand: operand) }
            return
        }
        let middle = operands.startIndex + operands.count / 2
        append("(")
        append(operands[..<middle], joinedBy: name)
        append(name)
        append(operands[middle...], joinedBy: name)
        append(")")
    }

    /// Appends a condition in at most one pair of parentheses: SQLite limits their depth.
    mutating func append(operand: ODataExpression) {
        switch operand {
        case .all(let operands) where operands.count > 1, .any(let operands) where operands.count > 1:
            append(condition: operand)
        default:
            append("(")
            append(condition: operand)
            append(")")
        }
    }

    /// Appends a comparison of a system column with a literal of its type, without a function.
    ///
    /// The `+` keeps SQLite's planner from using an index: ``RowBounds`` are the conditions for indexes.
    private mutating func appendNative(
        _ comparison: ODataExpression.Comparison, _ left: ODataExpression, _ right: ODataExpression
    ) -> Bool {
        let unindexed = database == .sqlite ? "+" : ""
        switch (left, right) {
        case (.column(.id), .literal(.text(let text))) where !text.utf8.contains(0):
            append("\(unindexed)id \(comparison.sql) ")
            append(.text(text))
        case (.column(.updatedAt), .literal(.date(let date))):
            append("\(unindexed)updatedAt \(comparison.sql) ")
            append(.text(date.storedText))
        case (.column(.createdAt), .literal(.date(let date))):
            append("createdAt \(comparison.sql) ")
            append(.text(date.storedText))
        case (.column(.deleted), .literal(.bool(let value))):
            append("deleted \(comparison.sql) \(value ? "TRUE" : "FALSE")")
        default: return false
        }
        return true
    }

    /// Appends a comparison of a field with a literal, if the database does it faster than its function for all types.
    private mutating func appendField(
        _ comparison: ODataExpression.Comparison, _ left: ODataExpression, _ right: ODataExpression
    ) -> Bool {
        guard database == .postgreSQL, case .column(.field(let name)) = left, case .literal(let value) = right
        else { return false }
        switch (comparison, value) {
        // The JSON of equal texts and Booleans is equal.
        case (.eq, .text), (.ne, .text), (.eq, .bool), (.ne, .bool):
            appendCall("odata_token", ofField: name)
            append(" \(comparison.sql) ")
            append(.json(value))
        case (.gt, .int), (.ge, .int), (.lt, .int), (.le, .int), (.gt, .double), (.ge, .double),
            (.lt, .double), (.le, .double):
            guard value.doubleValue?.isFinite == true else { return false }
            appendCall("odata_number", ofField: name)
            append(" \(comparison.sql) ")
            append(.number(value))
        case (.eq, .int), (.ne, .int), (.eq, .double), (.ne, .double):
            guard value.doubleValue?.isFinite == true else { return false }
            // A number differs from values of all other types but null.
            append("coalesce(")
            appendCall("odata_number", ofField: name)
            append(" \(comparison.sql) ")
            append(.number(value))
            append(", CASE WHEN ")
            appendCall("odata_token", ofField: name)
            append(" IS NOT NULL THEN \(comparison == .ne ? "TRUE" : "FALSE") END)")
        default: return false
        }
        return true
    }

    private mutating func appendCall(_ function: String, ofField name: String) {
        append("\(function)(fields, ")
        append(.text(name))
        append(")")
    }

    private mutating func append(value: ODataExpression) {
        switch value {
        case .literal(let value): append(.value(value))
        case .column(.id): append(database == .sqlite ? "id" : "odata_text(id)")
        case .column(.createdAt): append("odata_date(createdAt)")
        case .column(.updatedAt): append("odata_date(updatedAt)")
        case .column(.version): append("odata_version(revision)")
        case .column(.deleted): append("odata_bool(deleted)")
        case .column(.field(let name)): appendCall("odata_field", ofField: name)
        case .negative(let operand): appendCall("odata_sub", [.literal(.int(0)), operand])
        case .arithmetic(let arithmetic, let left, let right):
            appendCall("odata_\(arithmetic)", [left, right])
        case .call(let function, let arguments): appendCall("odata_\(function)", arguments)
        case .comparison, .not, .all, .any:
            append("odata_bool(")
            append(condition: value)
            append(")")
        }
    }

    private mutating func appendCall(_ name: String, _ arguments: [ODataExpression]) {
        append(name + "(")
        for (position, argument) in arguments.enumerated() {
            if position > 0 { append(", ") }
            append(value: argument)
        }
        append(")")
    }
}

extension ODataExpression.Comparison {
    fileprivate var sql: String {
        switch self {
        case .eq: "="
        case .ne: "<>"
        case .gt: ">"
        case .ge: ">="
        case .lt: "<"
        case .le: "<="
        }
    }

    /// The comparison with its operands exchanged.
    fileprivate var reversed: Self {
        switch self {
        case .eq, .ne: self
        case .gt: .lt
        case .ge: .le
        case .lt: .gt
        case .le: .ge
        }
    }
}
