// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Term {
    /// The property equals the value. With `nil`, this is a null test.
    public static func == (term: Term, value: Value) -> Where<Model> { term.compare(.equal, value.itemValue) }

    /// The property differs from the value, and an optional one is not null. With `nil`, the property is not null.
    public static func != (term: Term, value: Value) -> Where<Model> {
        term.compare(.notEqual, value.itemValue)
    }

    /// The property equals one of the values. A `nil` among them is a null test. Nothing equals one of no values, so that the
    /// negation then matches null too.
    public func isIn(_ values: [Value]) -> Where<Model> {
        let constants = values.map(\.itemValue)
        let others = constants.filter { !$0.isNull }
        return condition { expression in
            let membership = Filter.membership(expression, others)
            return others.count == constants.count ? membership : .any([membership, .nullTest(expression)])
        }
    }
}

/// Stored values are compared: an enum by its raw values, and not by its own `<`.
extension Term where Value: Comparable {
    /// The stored value of the property is less than that of the value.
    public static func < (term: Term, value: Value) -> Where<Model> { term.compare(.less, value.itemValue) }

    /// The stored value of the property is less than that of the value, or equal to it.
    public static func <= (term: Term, value: Value) -> Where<Model> {
        term.compare(.lessOrEqual, value.itemValue)
    }

    /// The stored value of the property is greater than that of the value.
    public static func > (term: Term, value: Value) -> Where<Model> {
        term.compare(.greater, value.itemValue)
    }

    /// The stored value of the property is greater than that of the value, or equal to it.
    public static func >= (term: Term, value: Value) -> Where<Model> {
        term.compare(.greaterOrEqual, value.itemValue)
    }
}

extension Term {
    /// The property is not null, and its stored value less than that of the value.
    public static func < <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.less, value.itemValue) }

    /// The property is not null, and its stored value less than that of the value, or equal to it.
    public static func <= <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.lessOrEqual, value.itemValue) }

    /// The property is not null, and its stored value greater than that of the value.
    public static func > <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.greater, value.itemValue) }

    /// The property is not null, and its stored value greater than that of the value, or equal to it.
    public static func >= <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.greaterOrEqual, value.itemValue) }
}
