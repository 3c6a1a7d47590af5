// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A value that a filter computes for each item: a column, a constant, arithmetic or a function.
public indirect enum FilterExpression: Sendable, Hashable {
    /// The field of that name; null if it is missing.
    case column(String)
    /// A constant.
    case constant(ItemValue)
    /// Arithmetic on two numbers.
    case arithmetic(Arithmetic, FilterExpression, FilterExpression)
    /// A function of one or more values.
    case call(Function, [FilterExpression])

    /// An arithmetic operator, with its OData name.
    ///
    /// The result of two integers is an integer: division truncates, and on overflow the result is a double. With a
    /// double operand the result is a double. With a null operand, or for a division by zero, the result is null.
    public enum Arithmetic: String, Sendable, Hashable, CaseIterable {
        /// Addition.
        case add
        /// Subtraction.
        case sub
        /// Multiplication.
        case mul
        /// Division.
        case div
        /// Remainder with the sign of the dividend; integers only.
        case mod
    }

    /// A function that filters can call. With a null argument the result is null.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// The text in lower case, by Unicode's default rules.
        case tolower
        /// The text in upper case, by Unicode's default rules.
        case toupper
        /// The text without white space at either end.
        case trim
        /// The concatenation of two texts.
        case concat
        /// The number of Unicode scalars of the text.
        case length
        /// The position of the second text in the first, counted in Unicode scalars from 0; -1 when absent.
        case indexof
        /// The UTC year of a date.
        case year
        /// The UTC month of a date, 1 to 12.
        case month
        /// The UTC day of the month of a date, 1 to 31.
        case day
        /// The UTC hour of a date, 0 to 23.
        case hour
        /// The minute of a date.
        case minute
        /// The second of a date.
        case second
        /// The number rounded to the nearest integer, halves away from zero.
        case round
        /// The number rounded down.
        case floor
        /// The number rounded up.
        case ceiling
    }
}

/// A type that converts to an expression of a filter: ``FilterExpression`` and ``SyncColumn``.
///
/// `.column("text")` is a column by its name.
public protocol FilterExpressionConvertible {
    /// The expression.
    var expression: FilterExpression { get }
}

extension FilterExpression: FilterExpressionConvertible {
    /// The expression itself.
    public var expression: FilterExpression { self }
}

extension SyncColumn: FilterExpressionConvertible {
    /// This column.
    public var expression: FilterExpression { .column(name) }
}

extension FilterExpressionConvertible where Self == FilterExpression {
    /// The column of that name, for contexts that accept any expression: `.column("text") == "x"`.
    @_disfavoredOverload
    public static func column(_ name: String) -> FilterExpression { FilterExpression.column(name) }
}

extension FilterExpression {
    /// The text in lower case.
    public static func lowercased(_ text: some FilterExpressionConvertible) -> FilterExpression {
        .call(.tolower, [text.expression])
    }

    /// The text in upper case.
    public static func uppercased(_ text: some FilterExpressionConvertible) -> FilterExpression {
        .call(.toupper, [text.expression])
    }

    /// The text without white space at either end.
    public static func trimmed(_ text: some FilterExpressionConvertible) -> FilterExpression {
        .call(.trim, [text.expression])
    }

    /// The number of Unicode scalars of the text.
    public static func length(_ text: some FilterExpressionConvertible) -> FilterExpression {
        .call(.length, [text.expression])
    }

    /// The UTC year of a date; for other parts use ``call(_:_:)``.
    public static func year(_ date: some FilterExpressionConvertible) -> FilterExpression {
        .call(.year, [date.expression])
    }

    /// The sum of two numbers.
    public static func + (left: FilterExpression, right: some ItemValueConvertible) -> FilterExpression {
        .arithmetic(.add, left, .constant(right.itemValue))
    }

    /// The difference of two numbers.
    public static func - (left: FilterExpression, right: some ItemValueConvertible) -> FilterExpression {
        .arithmetic(.sub, left, .constant(right.itemValue))
    }

    /// The product of two numbers.
    public static func * (left: FilterExpression, right: some ItemValueConvertible) -> FilterExpression {
        .arithmetic(.mul, left, .constant(right.itemValue))
    }

    /// The quotient of two numbers.
    public static func / (left: FilterExpression, right: some ItemValueConvertible) -> FilterExpression {
        .arithmetic(.div, left, .constant(right.itemValue))
    }

    /// The remainder of two integers.
    public static func % (left: FilterExpression, right: some ItemValueConvertible) -> FilterExpression {
        .arithmetic(.mod, left, .constant(right.itemValue))
    }
}
