// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

// A column stores 64-bit signed integers. An integer type conforms if each of its values is one of them.

extension FieldValue where Self: FixedWidthInteger {
    /// A column of 64-bit integers.
    public static var columnType: ColumnType { .integer }

    /// Makes an integer; `nil` for any other value, and for an integer out of range.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.intValue else { return nil }
        self.init(exactly: value)
    }

    /// The integer.
    public var itemValue: ItemValue { .int(Int64(self)) }
}

extension Int: FieldValue {}
extension Int64: FieldValue {}
extension Int32: ItemValueConvertible, FieldValue {}
extension Int16: ItemValueConvertible, FieldValue {}
extension Int8: ItemValueConvertible, FieldValue {}
extension UInt32: ItemValueConvertible, FieldValue {}
extension UInt16: ItemValueConvertible, FieldValue {}
extension UInt8: ItemValueConvertible, FieldValue {}
