// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One value of an item: the JSON types, plus exact 64-bit integers, dates and binary data.
///
/// Two values are equal only when they are the same type and the same bytes: `1` is not `1.0`, `0.0` is not
/// `-0.0`, and text is compared byte for byte, so `"é"` and `"e\u{301}"` are different.
public enum ItemValue: Sendable {
    /// An explicit null, which differs from a missing field.
    case null
    /// True or false; never converted to a number.
    case bool(Bool)
    /// An exact 64-bit integer.
    case int(Int64)
    /// A finite IEEE double.
    case double(Double)
    /// Text, compared byte for byte.
    case text(String)
    /// An instant with its number of fraction digits.
    case date(Timestamp)
    /// Binary data; base64 text on the wire.
    case data(Data)
    /// A list of values.
    case array([ItemValue])
    /// A nested object. Of names that are canonically equivalent it can have only one, with its exact bytes.
    case object([String: ItemValue])
}

extension ItemValue {
    /// Whether this is an explicit null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The Boolean, or `nil` for any other type.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, or `nil` for any other type.
    public var intValue: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    /// The double, or the integer converted to a double; `nil` for any other type.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }

    /// The text, or `nil` for any other type.
    public var textValue: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The date, or `nil` for any other type.
    public var dateValue: Timestamp? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The binary data, or `nil` for any other type.
    public var dataValue: Data? {
        if case .data(let value) = self { value } else { nil }
    }
}

extension ItemValue: Hashable {
    /// Compares types and bytes.
    public static func == (left: ItemValue, right: ItemValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.date(let a), .date(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a.hasSameMembers(as: b)
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        // Canonically equivalent strings have the same hash; `==` distinguishes them.
        case .text(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension [String: ItemValue] {
    /// Whether the key that a lookup finds has the same UTF-8 as the name, and is not only canonically equivalent.
    func hasKey(withSameBytesAs name: String) -> Bool {
        index(forKey: name).map { self[$0].key.hasSameBytes(as: name) } ?? false
    }

    /// Whether both have equal values under the same names, byte for byte. A dictionary's own `==` treats canonically
    /// equivalent names as equal.
    fileprivate func hasSameMembers(as other: Self) -> Bool {
        count == other.count
            && allSatisfy { name, value in
                other[name] == .some(value) && other.hasKey(withSameBytesAs: name)
            }
    }
}

extension ItemValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `nil` is null.
    public init(nilLiteral: ()) { self = .null }
    /// `true` and `false` are Booleans.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// `1` is an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// `1.0` is a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// `"a"` is text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// `[1, 2]` is a list.
    public init(arrayLiteral elements: ItemValue...) { self = .array(elements) }
    /// `["a": 1]` is an object; the last value of a repeated name is kept.
    public init(dictionaryLiteral elements: (String, ItemValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}
