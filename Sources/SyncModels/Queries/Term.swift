// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The column of one property in a filter.
///
/// A comparison of an optional property with a value does not match null, and neither does its negation:
/// compare with `nil` to test for null. For a property that is not optional, null counts as the blank value of
/// the model, which is what the property shows. An index is used best if the field is
/// ``FieldOptions/required``: its filters do not test for null.
public struct Term<Model: SyncModel, Value: FieldValue>: Sendable {
    private let expression: FilterExpression
    /// The column and its blank value, if null counts as that value.
    private let blank: [String: ItemValue]?
    private let unmapped: UnmappedProperty?

    init(
        _ expression: FilterExpression, blank: [String: ItemValue]? = nil, unmapped: UnmappedProperty? = nil
    ) {
        self.expression = expression
        self.blank = blank
        self.unmapped = unmapped
    }

    /// Returns the condition of a filter of this term.
    func condition(_ filter: (FilterExpression) -> Filter) -> Where<Model> {
        let filter = filter(expression)
        guard let blank else { return Where(filter: filter, negation: .not(filter), unmapped: unmapped) }
        let isNull = Filter.nullTest(expression)
        return filter.matches(Item(id: "", fields: blank))
            ? Where(filter: .any([filter, isNull]), negation: .not(filter), unmapped: unmapped)
            : Where(filter: filter, negation: .any([.not(filter), isNull]), unmapped: unmapped)
    }

    func compare(_ comparison: Filter.Comparison, _ value: ItemValue) -> Where<Model> {
        condition { .comparison(comparison, $0, .constant(value)) }
    }

    func call<Result: FieldValue>(
        _ function: FilterExpression.Function, as type: Result.Type
    ) -> Term<Model, Result> {
        Term<Model, Result>(.call(function, [expression]), blank: blank, unmapped: unmapped)
    }
}

extension Term: Condition where Value == Bool {
    /// The property is true.
    public var condition: Where<Model> { compare(.equal, true) }
}
