// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) package import SyncCore

/// A value with a description that differs for any two different values, for comparison and for failure messages.
///
/// Swift's `==` on strings uses canonical equivalence, and so does the equality of types that contain strings, so it
/// would not detect a store that changes the bytes of a string. The suite therefore compares descriptions.
package protocol ExactlyDescribed {
    var exactDescription: String { get }
}

extension Bool: ExactlyDescribed { package var exactDescription: String { String(self) } }

extension Int: ExactlyDescribed { package var exactDescription: String { String(self) } }

extension Int64: ExactlyDescribed { package var exactDescription: String { String(self) } }

extension String: ExactlyDescribed {
    /// Abbreviates long strings to their prefix, length and hash.
    package var exactDescription: String {
        guard utf8.count > 240 else { return Self.quoted(unicodeScalars) }
        let hash = String(FNV1a.hash(utf8), radix: 16)
        return "\(Self.quoted(unicodeScalars.prefix(24)))…(\(utf8.count) bytes, hash \(hash))"
    }

    private static func quoted(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var form = "\""
        for scalar in scalars {
            switch scalar {
            case "\"", "\\": form += "\\\(scalar)"
            case " "..."~": form.unicodeScalars.append(scalar)
            default: form += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return form + "\""
    }
}

extension Data: ExactlyDescribed {
    package var exactDescription: String {
        count <= 24
            ? "<\(map { String($0, radix: 16) }.joined(separator: " "))>"
            : "<\(count) bytes, hash \(String(FNV1a.hash(self), radix: 16))>"
    }
}

extension Optional: ExactlyDescribed where Wrapped: ExactlyDescribed {
    package var exactDescription: String { map(\.exactDescription) ?? "nil" }
}

extension Array: ExactlyDescribed where Element: ExactlyDescribed {
    package var exactDescription: String { "[\(map(\.exactDescription).joined(separator: ", "))]" }
}

extension Dictionary: ExactlyDescribed where Key == String, Value: ExactlyDescribed {
    /// An empty dictionary is not described like an empty list.
    package var exactDescription: String {
        if isEmpty { return "[:]" }
        let fields = sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return
            "[\(fields.map { "\($0.key.exactDescription): \($0.value.exactDescription)" }.joined(separator: ", "))]"
    }
}

extension ItemValue: ExactlyDescribed {
    package var exactDescription: String {
        switch self {
        case .null: "null"
        case .bool(let value): value.exactDescription
        case .int(let value): value.exactDescription
        case .double(let value): "\(value) as Double"
        case .text(let value): value.exactDescription
        case .date(let value): value.description
        case .data(let value): value.exactDescription
        case .array(let values): values.exactDescription
        case .object(let fields): fields.exactDescription
        }
    }
}

extension SystemProperties: ExactlyDescribed {
    package var exactDescription: String {
        var parts: [String] = []
        if let createdAt { parts.append("createdAt: \(createdAt)") }
        if let updatedAt { parts.append("updatedAt: \(updatedAt)") }
        if let version { parts.append("version: \(version.exactDescription)") }
        if deleted { parts.append("deleted") }
        if !supersededVersions.isEmpty { parts.append("superseded: \(supersededVersions.exactDescription)") }
        if !undeclared.isEmpty { parts.append("undeclared: \(undeclared.exactDescription)") }
        return parts.joined(separator: ", ")
    }
}

extension Item: ExactlyDescribed {
    package var exactDescription: String {
        let system = system.exactDescription
        return "Item(\(id.exactDescription) \(fields.exactDescription)\(system.isEmpty ? "" : " \(system)"))"
    }
}

extension QueryResult: ExactlyDescribed {
    package var exactDescription: String { "\(items.exactDescription) of \(totalCount.exactDescription)" }
}

extension TableOperation: ExactlyDescribed {
    package var exactDescription: String {
        let properties = String(decoding: storedProperties, as: UTF8.self)
        return
            "Operation(\(id) \(table.exactDescription) \(itemID.exactDescription) \(properties.exactDescription))"
    }
}

extension TableOperationError: ExactlyDescribed {
    package var exactDescription: String {
        "OperationError(\(operationID) \(String(decoding: storedProperties, as: UTF8.self).exactDescription))"
    }
}

extension ConfigKey: ExactlyDescribed {
    package var exactDescription: String {
        "\(table.exactDescription)/\(kind.rawValue)/\(name.exactDescription)"
    }
}

extension RowValues: ExactlyDescribed {
    package var exactDescription: String {
        "\(id.exactDescription) \(values.exactDescription) \(Item(id: id, system: system).exactDescription)"
    }
}
