// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The coding of JSON columns. Dates are RFC 3339 text to the millisecond, and binary data is base64 text.
enum JSONField {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
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
    /// - Throws: ``InexactNumber``, and the errors of the encoder.
    static func encode(_ value: some Encodable) throws -> ItemValue {
        let json = try encoder.encode(value)
        guard JSONNumbers.areExact(in: json) else { throw InexactNumber() }
        return try ItemValue(json: json)
    }

    /// Returns `nil` if the type cannot hold the value.
    static func decode<Value: Decodable>(_ type: Value.Type, from value: ItemValue) -> Value? {
        try? decoder.decode(type, from: value.json)
    }
}

extension Equatable {
    /// Whether the other value has this type and is equal.
    func isEqual(to other: Any) -> Bool { other as? Self == self }
}

extension ItemValue {
    /// The value with its arrays in an order that depends only on their elements. A set is an array in any order, and so is a
    /// dictionary whose keys are not text, with keys and values in turn.
    var withoutOrder: ItemValue {
        switch self {
        case .array(let elements):
            let elements = elements.map(\.withoutOrder)
            return .array(
                elements.map { ($0.json, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1))
        case .object(let fields): return .object(fields.mapValues(\.withoutOrder))
        default: return self
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
