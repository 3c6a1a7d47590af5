// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A type that converts to an ``ItemValue``, so that its values can be used in filters and fields.
public protocol ItemValueConvertible {
    /// The value as a field of an item.
    var itemValue: ItemValue { get }
}

extension ItemValue: ItemValueConvertible {
    /// The value itself.
    public var itemValue: ItemValue { self }
}

extension Bool: ItemValueConvertible {
    /// A Boolean value.
    public var itemValue: ItemValue { .bool(self) }
}

extension Int: ItemValueConvertible {
    /// An integer value.
    public var itemValue: ItemValue { .int(Int64(self)) }
}

extension Int64: ItemValueConvertible {
    /// An integer value.
    public var itemValue: ItemValue { .int(self) }
}

extension Double: ItemValueConvertible {
    /// A double value.
    public var itemValue: ItemValue { .double(self) }
}

extension String: ItemValueConvertible {
    /// A text value.
    public var itemValue: ItemValue { .text(self) }
}

extension Timestamp: ItemValueConvertible {
    /// A date value.
    public var itemValue: ItemValue { .date(self) }
}

extension Date: ItemValueConvertible {
    /// The date to the millisecond, as ``Timestamp/init(_:)`` rounds it.
    public var itemValue: ItemValue { .date(Timestamp(self)) }
}

extension Data: ItemValueConvertible {
    /// A binary value.
    public var itemValue: ItemValue { .data(self) }
}

extension Optional: ItemValueConvertible where Wrapped: ItemValueConvertible {
    /// The wrapped value, or null.
    public var itemValue: ItemValue { self?.itemValue ?? .null }
}
