// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) package import SyncCore

/// A value as text that tells any two different values apart, for comparing and for reading.
///
/// Swift's `==` on text follows canonical equivalence, and so does the equality of types that hold text: a store
/// that changed the bytes of a name would go unnoticed. Forms are therefore what the suite compares.
package protocol ExactlyShown {
    var exactForm: String { get }
}

extension Bool: ExactlyShown { package var exactForm: String { String(self) } }

extension Int: ExactlyShown { package var exactForm: String { String(self) } }

extension Int64: ExactlyShown { package var exactForm: String { String(self) } }

extension String: ExactlyShown {
    /// Long texts are shown by their beginning, length and hash.
    package var exactForm: String {
        guard utf8.count > 240 else { return Self.quoted(unicodeScalars) }
        let hash = String(ExactHash.of(utf8), radix: 16)
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

extension Data: ExactlyShown {
    package var exactForm: String {
        count <= 24
            ? "<\(map { String($0, radix: 16) }.joined(separator: " "))>"
            : "<\(count) bytes, hash \(String(ExactHash.of(self), radix: 16))>"
    }
}

extension Optional: ExactlyShown where Wrapped: ExactlyShown {
    package var exactForm: String { map(\.exactForm) ?? "nil" }
}

extension Array: ExactlyShown where Element: ExactlyShown {
    package var exactForm: String { "[\(map(\.exactForm).joined(separator: ", "))]" }
}

extension Dictionary: ExactlyShown where Key == String, Value: ExactlyShown {
    package var exactForm: String {
        let fields = sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return "[\(fields.map { "\($0.key.exactForm): \($0.value.exactForm)" }.joined(separator: ", "))]"
    }
}

extension ItemValue: ExactlyShown {
    package var exactForm: String {
        switch self {
        case .null: "null"
        case .bool(let value): value.exactForm
        case .int(let value): value.exactForm
        case .double(let value): "\(value) as Double"
        case .text(let value): value.exactForm
        case .date(let value): value.description
        case .data(let value): value.exactForm
        case .array(let values): values.exactForm
        case .object(let fields): fields.exactForm
        }
    }
}

extension SystemProperties: ExactlyShown {
    package var exactForm: String {
        var parts: [String] = []
        if let createdAt { parts.append("createdAt: \(createdAt)") }
        if let updatedAt { parts.append("updatedAt: \(updatedAt)") }
        if let version { parts.append("version: \(version.exactForm)") }
        if deleted { parts.append("deleted") }
        if !supersededVersions.isEmpty { parts.append("superseded: \(supersededVersions.exactForm)") }
        if !undeclared.isEmpty { parts.append("undeclared: \(undeclared.exactForm)") }
        return parts.joined(separator: ", ")
    }
}

extension Item: ExactlyShown {
    package var exactForm: String {
        let system = system.exactForm
        return "Item(\(id.exactForm) \(fields.exactForm)\(system.isEmpty ? "" : " \(system)"))"
    }
}

extension QueryResult: ExactlyShown {
    package var exactForm: String { "\(items.exactForm) of \(totalCount.exactForm)" }
}

extension TableOperation: ExactlyShown {
    package var exactForm: String {
        let properties = String(decoding: storedProperties, as: UTF8.self)
        return "Operation(\(id) \(table.exactForm) \(itemID.exactForm) \(properties.exactForm))"
    }
}

extension TableOperationError: ExactlyShown {
    package var exactForm: String {
        "OperationError(\(operationID) \(String(decoding: storedProperties, as: UTF8.self).exactForm))"
    }
}

extension ConfigKey: ExactlyShown {
    package var exactForm: String { "\(table.exactForm)/\(kind.rawValue)/\(name.exactForm)" }
}

/// FNV-1a, the same on every machine.
package enum ExactHash {
    package static let start: UInt64 = 0xcbf2_9ce4_8422_2325

    package static func of(_ bytes: some Sequence<UInt8>, after hash: UInt64 = start) -> UInt64 {
        bytes.reduce(hash) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
