// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SyncCore

extension Bool: FieldValue {
    /// A column of Booleans.
    public static var columnType: ColumnType { .bool }

    /// Makes a Boolean; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.boolValue else { return nil }
        self = value
    }
}

extension String: FieldValue {
    /// A column of text.
    public static var columnType: ColumnType { .text }

    /// Makes a string; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.textValue else { return nil }
        self = value
    }
}

extension Timestamp: FieldValue {
    /// A column of dates.
    public static var columnType: ColumnType { .date }

    /// Makes a timestamp with all digits; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.dateValue else { return nil }
        self = value
    }
}

extension Date: FieldValue {
    /// A column of dates.
    public static var columnType: ColumnType { .date }

    /// Makes a date; `nil` for any other value. A date that the app changes is written to the millisecond.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.dateValue else { return nil }
        self = value.date
    }
}

extension Data: FieldValue {
    /// A column of binary data.
    public static var columnType: ColumnType { .data }

    /// Makes binary data; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.dataValue else { return nil }
        self = value
    }
}

extension UUID: ItemValueConvertible, FieldValue {
    /// A column of text.
    public static var columnType: ColumnType { .text }

    /// Reads a UUID from text in either case; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.textValue.flatMap(UUID.init(uuidString:)) else { return nil }
        self = value
    }

    /// The UUID as text in lower case. Filters compare this text with the stored one, so they do not find a UUID that
    /// another client has written in upper case.
    public var itemValue: ItemValue { .text(uuidString.lowercased()) }
}

extension URL: ItemValueConvertible, FieldValue {
    /// A column of text.
    public static var columnType: ColumnType { .text }

    /// Reads a URL from text; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.textValue.flatMap(URL.init(string:)) else { return nil }
        self = value
    }

    /// The URL as text.
    public var itemValue: ItemValue { .text(absoluteString) }
}

extension Double: FieldValue {
    /// A column of finite doubles.
    public static var columnType: ColumnType { .double }

    /// Makes a double from a number; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.doubleValue else { return nil }
        self = value
    }
}

extension Float: ItemValueConvertible, FieldValue {
    /// A column of finite doubles.
    public static var columnType: ColumnType { .double }

    /// Makes the nearest float of a number; `nil` for any other value, and for a number out of range.
    public init?(itemValue: ItemValue) {
        guard let value = itemValue.doubleValue.map(Float.init), value.isFinite else { return nil }
        self = value
    }

    /// The number as a double. Filters compare it with the stored double, which may have more digits than a float.
    public var itemValue: ItemValue { .double(Double(self)) }
}
