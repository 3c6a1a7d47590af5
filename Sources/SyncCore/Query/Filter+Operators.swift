// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The comparisons of a filter as operators: a column, a column's name or an expression on the left, a constant or
// an expression on the right. `"complete" == false` is a filter wherever a filter is expected.

/// The value equals the constant. With null on the right this is a null test.
public func == (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.equal, value.expression, .constant(constant.itemValue))
}

/// The value equals the other one.
public func == (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.equal, value.expression, other)
}

/// The value is not null and differs from the constant. With null on the right this is a null test.
public func != (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.notEqual, value.expression, .constant(constant.itemValue))
}

/// The value is not null and differs from the other one.
public func != (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.notEqual, value.expression, other)
}

/// The value is less than the constant.
public func < (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.less, value.expression, .constant(constant.itemValue))
}

/// The value is less than the other one.
public func < (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.less, value.expression, other)
}

/// The value is not greater than the constant.
public func <= (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.lessOrEqual, value.expression, .constant(constant.itemValue))
}

/// The value is not greater than the other one.
public func <= (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.lessOrEqual, value.expression, other)
}

/// The value is greater than the constant.
public func > (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.greater, value.expression, .constant(constant.itemValue))
}

/// The value is greater than the other one.
public func > (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.greater, value.expression, other)
}

/// The value is not less than the constant.
public func >= (value: some FilterExpressionConvertible, constant: some ItemValueConvertible) -> Filter {
    .comparison(.greaterOrEqual, value.expression, .constant(constant.itemValue))
}

/// The value is not less than the other one.
public func >= (value: some FilterExpressionConvertible, other: FilterExpression) -> Filter {
    .comparison(.greaterOrEqual, value.expression, other)
}
