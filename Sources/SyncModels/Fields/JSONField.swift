// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The coding of JSON columns. Dates are RFC 3339 text to the millisecond, and binary data is base64 text.
enum JSONField {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            try date.requireStorable()
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp(date).description)
        }
        return encoder
    }()

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let timestamp = Timestamp(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a date.")
            }
            return timestamp.date
        }
        return decoder
    }()

    /// Encodes the value of a property.
    ///
    /// - Throws: ``InexactNumber``, ``UnrepresentableDate``, and the errors of the encoder.
    static func encode(_ value: some Encodable) throws -> ItemValue {
        let json = try encoder.encode(value)
        if let path = JSONNumbers.pathOfInexactNumber(in: json) { throw InexactNumber(path: path) }
        return try ItemValue(json: json)
    }

    /// Returns `nil` if the type cannot hold the value.
    static func decode<Value: Decodable>(_ type: Value.Type, from value: ItemValue) -> Value? {
        try? decoder.decode(type, from: value.json)
    }
}

extension ItemValue {
    /// The value with its arrays in an order that depends only on their elements. A set is an array in any order, and so is a
    /// dictionary whose keys are not text, with keys and values in turn.
    var withoutOrder: ItemValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutOrder).sortedByJSON)
        case .object(let fields): .object(fields.mapValues(\.withoutOrder))
        default: self
        }
    }

    /// The value with the keys of stored objects that a type does not have, which a newer version of the app may have written.
    ///
    /// - Parameters:
    ///   - stored: the stored value.
    ///   - known: the stored value as the type has it.
    func addingUnknownKeys(of stored: ItemValue, known: ItemValue) -> ItemValue {
        guard case (.object(var fields), .object(let stored), .object(let known)) = (self, stored, known)
        else {
            return self
        }
        for (key, value) in stored {
            if let known = known[key] {
                fields[key] = fields[key]?.addingUnknownKeys(of: value, known: known)
            } else if fields[key] == nil {
                fields[key] = value
            }
        }
        return .object(fields)
    }
}

/// A collection without an order. Other types, such as an ordered set, may have its mirror.
private protocol UnorderedCollection {}
extension Set: UnorderedCollection {}
extension Dictionary: UnorderedCollection {}

extension ItemValue {
    /// Makes the parts of a Swift value, to compare two values of one type. They are equal if the values differ only in the
    /// order in which sets and dictionaries list their elements.
    ///
    /// Unlike the encoded value, the parts distinguish an array from a set, and have numbers that cannot be stored.
    init(partsOf value: Any) {
        self = Self.unorderedParts(of: value) ?? Self.encoded(value)
    }

    /// Returns `nil` if the value contains no set or dictionary, so that the order of its encoding counts.
    private static func unorderedParts(of value: Any) -> ItemValue? {
        let mirror = Mirror(reflecting: value)
        // References between objects can form a cycle.
        guard mirror.displayStyle != .class else { return nil }
        if value is any UnorderedCollection {
            let elements = mirror.children.map { element in
                let pair = Mirror(reflecting: element.value)
                guard pair.displayStyle == .tuple else { return ItemValue(partsOf: element.value) }
                return .array(pair.children.map { ItemValue(partsOf: $0.value) })
            }
            return .array(elements.sortedByJSON)
        }
        let parts = mirror.children.map { unorderedParts(of: $0.value) }
        guard parts.contains(where: { $0 != nil }) else { return nil }
        return .array(
            zip(mirror.children, parts).map { child, parts in
                // The label of an enum's child is the name of its case.
                .array([.text(child.label ?? ""), parts ?? encoded(child.value)])
            })
    }

    private static func encoded(_ value: Any) -> ItemValue {
        (value as? any Encodable).flatMap { try? JSONField.encode($0) } ?? .text(String(describing: value))
    }
}

extension [ItemValue] {
    /// The values in an order that depends only on them.
    fileprivate var sortedByJSON: [ItemValue] {
        map { ($0.json, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }
}
