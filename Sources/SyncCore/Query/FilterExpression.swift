// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A value that a filter computes for each item: a column, a constant, arithmetic or a function.
public indirect enum FilterExpression: Sendable, Hashable {
    /// The field of that name; null when it is missing.
    case column(String)
    /// A constant.
    case constant(ItemValue)
    /// Two numbers combined.
    case arithmetic(Arithmetic, FilterExpression, FilterExpression)
    /// A function of one or more values.
    case call(Function, [FilterExpression])

    /// How two numbers are combined, as OData names it.
    ///
    /// Integers stay integers: division truncates, and a result beyond 64 bits becomes a double. With a
    /// double on either side the result is a double. Null, or division by zero, gives null.
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

    /// A function that filters may call. Any null argument gives null.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// The text in lower case, by Unicode's default rules.
        case tolower
        /// The text in upper case, by Unicode's default rules.
        case toupper
        /// The text without white space at either end.
        case trim
        /// Two texts joined.
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
        /// The number rounded to the nearest whole, halves away from zero.
        case round
        /// The greatest whole number that is not above the number.
        case floor
        /// The least whole number that is not below the number.
        case ceiling
    }
}

/// A type whose values a filter can test: ``FilterExpression`` and ``SyncColumn``.
///
/// A column that the code knows by its name alone is written `.column("text")`.
public protocol FilterExpressionConvertible {
    /// The expression it stands for.
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
    /// The column of that name, wherever a column or an expression is expected: `.column("text") == "x"`.
    ///
    /// The enum case of the same name takes precedence where the type is known.
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
