// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A condition on the items of a model: a comparison of a ``Term``, a term of type `Bool`, or a combination of
/// conditions.
public protocol Condition<Model>: Sendable {
    /// The model.
    associatedtype Model: SyncModel

    /// The condition.
    var condition: Where<Model> { get }
}

extension Condition {
    /// Both conditions hold.
    public static func && (left: Self, right: some Condition<Model>) -> Where<Model> {
        let (left, right) = (left.condition, right.condition)
        return Where(
            filter: left.filter && right.filter, negation: left.negation || right.negation,
            unmapped: left.unmapped ?? right.unmapped)
    }

    /// At least one of the conditions holds.
    public static func || (left: Self, right: some Condition<Model>) -> Where<Model> {
        let (left, right) = (left.condition, right.condition)
        return Where(
            filter: left.filter || right.filter, negation: left.negation && right.negation,
            unmapped: left.unmapped ?? right.unmapped)
    }

    /// The condition does not hold.
    public static prefix func ! (condition: Self) -> Where<Model> {
        let condition = condition.condition
        return Where(
            filter: condition.negation, negation: condition.filter, unmapped: condition.unmapped)
    }
}

/// A condition on the items of a model.
public struct Where<Model: SyncModel>: Condition {
    /// The condition as a filter of the table.
    public let filter: Filter
    /// The filter of the opposite condition. `.not(filter)` is unknown for null, where a property has its blank
    /// value.
    let negation: Filter
    let unmapped: UnmappedProperty?

    init(filter: Filter, negation: Filter, unmapped: UnmappedProperty?) {
        self.filter = filter
        self.negation = negation
        self.unmapped = unmapped
    }

    /// Makes a condition from a filter of the table.
    public init(_ filter: Filter) {
        self.init(filter: filter, negation: .not(filter), unmapped: nil)
    }

    /// The condition itself.
    public var condition: Where { self }
}
