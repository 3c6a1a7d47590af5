// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Comparisons as operators: a column or an expression on the left; a constant, a column or an expression on the right.
///
/// They are declared for columns and expressions only, so they do not change the comparisons of other types: a comparison
/// of two strings is a `Bool`.
extension FilterExpressionConvertible {
    /// The value equals the constant. With null this is a null test.
    public static func == (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.equal, value.expression, .constant(constant.itemValue))
    }

    /// The value equals the constant. With null this is a null test. This overload accepts the literal `nil`.
    public static func == (value: Self, constant: ItemValue) -> Filter {
        .comparison(.equal, value.expression, .constant(constant))
    }

    /// The value equals the other value.
    public static func == (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.equal, value.expression, other.expression)
    }

    /// The value is not null and differs from the constant. With null, this tests that the value is not null.
    public static func != (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.notEqual, value.expression, .constant(constant.itemValue))
    }

    /// The value is not null and differs from the constant. With null, this tests that the value is not null. This overload
    /// accepts the literal `nil`.
    public static func != (value: Self, constant: ItemValue) -> Filter {
        .comparison(.notEqual, value.expression, .constant(constant))
    }

    /// The value is not null and differs from the other value.
    public static func != (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.notEqual, value.expression, other.expression)
    }

    /// The value is less than the constant.
    public static func < (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.less, value.expression, .constant(constant.itemValue))
    }

    /// The value is less than the other value.
    public static func < (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.less, value.expression, other.expression)
    }

    /// The value is less than or equal to the constant.
    public static func <= (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.lessOrEqual, value.expression, .constant(constant.itemValue))
    }

    /// The value is less than or equal to the other value.
    public static func <= (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.lessOrEqual, value.expression, other.expression)
    }

    /// The value is greater than the constant.
    public static func > (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.greater, value.expression, .constant(constant.itemValue))
    }

    /// The value is greater than the other value.
    public static func > (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.greater, value.expression, other.expression)
    }

    /// The value is greater than or equal to the constant.
    public static func >= (value: Self, constant: some ItemValueConvertible) -> Filter {
        .comparison(.greaterOrEqual, value.expression, .constant(constant.itemValue))
    }

    /// The value is greater than or equal to the other value.
    public static func >= (value: Self, other: some FilterExpressionConvertible) -> Filter {
        .comparison(.greaterOrEqual, value.expression, other.expression)
    }
}
