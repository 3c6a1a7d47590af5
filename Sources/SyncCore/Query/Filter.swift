// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A condition on items. It is true, false or unknown for an item; the items for which it is true match.
///
/// As in SQL, a comparison with null is unknown, `not` of unknown is unknown, and so `.column("priority") != 1` does not
/// match an item without priority. Comparing with an explicit null is a null test. A missing field counts as null.
public indirect enum Filter: Sendable, Hashable {
    /// Always true, or always false.
    case always(Bool)
    /// A comparison of two values.
    case comparison(Comparison, FilterExpression, FilterExpression)
    /// The value is null or missing.
    case nullTest(FilterExpression)
    /// The value equals one of the constants; an empty list matches nothing.
    case membership(FilterExpression, [ItemValue])
    /// A test of two texts.
    case text(TextTest, FilterExpression, FilterExpression)
    /// All of the conditions hold; true when there are none.
    case all([Filter])
    /// At least one of the conditions holds; false when there are none.
    case any([Filter])
    /// The condition does not hold.
    case not(Filter)

    /// A comparison operator.
    ///
    /// Integers and doubles compare exactly by value, text by its UTF-8 bytes, dates by instant, `false` before
    /// `true`, binary data byte by byte. Raw values are OData's names.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// Equal.
        case equal = "eq"
        /// Not equal.
        case notEqual = "ne"
        /// Less.
        case less = "lt"
        /// Less or equal.
        case lessOrEqual = "le"
        /// Greater.
        case greater = "gt"
        /// Greater or equal.
        case greaterOrEqual = "ge"

        /// The equivalent comparison with its operands exchanged.
        package var mirrored: Comparison {
            switch self {
            case .equal, .notEqual: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            }
        }
    }

    /// A test of two texts, byte by byte. Every text begins with, ends with and contains the empty text.
    public enum TextTest: String, Sendable, Hashable, CaseIterable {
        /// The first begins with the second.
        case hasPrefix = "startswith"
        /// The first ends with the second.
        case hasSuffix = "endswith"
        /// The second occurs in the first.
        case contains = "substringof"
    }
}

extension Filter {
    /// The text begins with the constant.
    public static func hasPrefix(_ text: some FilterExpressionConvertible, _ prefix: String) -> Filter {
        .text(.hasPrefix, text.expression, .constant(.text(prefix)))
    }

    /// The text ends with the constant.
    public static func hasSuffix(_ text: some FilterExpressionConvertible, _ suffix: String) -> Filter {
        .text(.hasSuffix, text.expression, .constant(.text(suffix)))
    }

    /// The constant occurs in the text.
    public static func contains(_ text: some FilterExpressionConvertible, _ part: String) -> Filter {
        .text(.contains, text.expression, .constant(.text(part)))
    }

    /// The value is null or missing.
    public static func isNull(_ value: some FilterExpressionConvertible) -> Filter {
        .nullTest(value.expression)
    }

    /// The value equals one of the constants.
    public static func isIn(
        _ value: some FilterExpressionConvertible, _ constants: [some ItemValueConvertible]
    ) -> Filter {
        .membership(value.expression, constants.map(\.itemValue))
    }

    /// The value is between the two constants, inclusive.
    public static func between(
        _ value: some FilterExpressionConvertible, _ low: some ItemValueConvertible,
        _ high: some ItemValueConvertible
    ) -> Filter {
        value.expression >= low && value.expression <= high
    }

    /// Both conditions hold. A chain of any length becomes one flat list.
    public static func && (left: Filter, right: Filter) -> Filter {
        guard case .all(let filters) = left else { return .all([left, right]) }
        return .all(filters + [right])
    }

    /// At least one of the conditions holds. A chain of any length becomes one flat list.
    public static func || (left: Filter, right: Filter) -> Filter {
        guard case .any(let filters) = left else { return .any([left, right]) }
        return .any(filters + [right])
    }

    /// The condition does not hold.
    public static prefix func ! (filter: Filter) -> Filter { .not(filter) }
}
