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

    /// The property equals one of the values. A `nil` among them is a null test.
    public func isIn(_ values: [Value]) -> Where<Model> {
        let constants = values.map(\.itemValue)
        let others = constants.filter { !$0.isNull }
        return condition { expression in
            let membership = Filter.membership(expression, others)
            return others.count == constants.count ? membership : .any([membership, .nullTest(expression)])
        }
    }
}

extension Term where Value: Comparable {
    /// The property is less than the value.
    public static func < (term: Term, value: Value) -> Where<Model> { term.compare(.less, value.itemValue) }

    /// The property is less than or equal to the value.
    public static func <= (term: Term, value: Value) -> Where<Model> {
        term.compare(.lessOrEqual, value.itemValue)
    }

    /// The property is greater than the value.
    public static func > (term: Term, value: Value) -> Where<Model> {
        term.compare(.greater, value.itemValue)
    }

    /// The property is greater than or equal to the value.
    public static func >= (term: Term, value: Value) -> Where<Model> {
        term.compare(.greaterOrEqual, value.itemValue)
    }
}

extension Term {
    /// The property is not null and less than the value.
    public static func < <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.less, value.itemValue) }

    /// The property is not null, and less than or equal to the value.
    public static func <= <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.lessOrEqual, value.itemValue) }

    /// The property is not null and greater than the value.
    public static func > <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.greater, value.itemValue) }

    /// The property is not null, and greater than or equal to the value.
    public static func >= <Wrapped: FieldValue & Comparable>(term: Term, value: Wrapped) -> Where<Model>
    where Value == Wrapped? { term.compare(.greaterOrEqual, value.itemValue) }
}
