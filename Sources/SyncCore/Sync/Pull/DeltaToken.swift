// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The position of an incremental pull: the last row that it has received, in the order of `updatedAt` and
/// id.
package struct DeltaToken: Sendable, Hashable {
    /// The server's own text of the row's `updatedAt`.
    package let updatedAtText: String
    /// The row's `updatedAt`.
    let updatedAt: Timestamp
    /// The row's id.
    package let id: String
    /// How far the rows that share the row's `updatedAt` have been read.
    package var instant = Instant.open
    /// Whether the first pull has not finished; only that one requests rows without `updatedAt`.
    package var isFirstPull = false

    /// How far the rows of one `updatedAt` have been read.
    package enum Instant: String, Sendable, Hashable {
        /// The server could still give this `updatedAt` to more rows; the next pull reads all its rows again.
        case open
        /// No further row gets this `updatedAt`. The rows have been read up to the token's id.
        case closed
        /// No further row gets this `updatedAt`, and all rows have been read.
        case complete
    }

    /// Returns the token at the last of the rows, in the order of `updatedAt` and id.
    static func last(of rows: [PulledRow]) -> DeltaToken? {
        rows.compactMap(\.token).max { $0.precedes($1) }
    }

    /// Whether this token is before the other one in the order of `updatedAt` and id.
    func precedes(_ other: DeltaToken) -> Bool {
        if updatedAt.isSameInstant(as: other.updatedAt) { return id.precedesInBytes(other.id) }
        return updatedAt.isEarlier(than: other.updatedAt)
    }

    /// Returns the text stored in the table config, with the binding: see ``DeltaTokenBinding``.
    func storedText(for binding: String) -> String {
        var object: [String: ItemValue] = [
            "updatedAt": .text(updatedAtText), "id": .text(id), "query": .text(binding),
            "instant": .text(instant.rawValue),
        ]
        if isFirstPull { object["isFirstPull"] = true }
        return String(decoding: ItemValue.object(object).json, as: UTF8.self)
    }

    /// Reads ``storedText(for:)``; `nil` for another binding, so that the pull starts over.
    init?(storedText: String, for binding: String) {
        guard let object = Self.object(storedText), Self.binding(object)?.hasSameBytes(as: binding) == true,
            let text = object["updatedAt"]?.textValue, let updatedAt = Timestamp(serverText: text),
            let id = object["id"]?.textValue
        else { return nil }
        self.init(updatedAtText: text, updatedAt: updatedAt, id: id)
        instant = object["instant"]?.textValue.flatMap(Instant.init) ?? .open
        isFirstPull = object["isFirstPull"] == .bool(true)
    }

    /// Reads ``storedText(for:)`` with any binding; `nil` when it is not a token.
    package init?(storedText: String) {
        guard let binding = Self.binding(inStoredText: storedText) else { return nil }
        self.init(storedText: storedText, for: binding)
    }

    /// Returns the `updatedAt` in a stored token, with any binding.
    static func updatedAtText(inStoredText text: String) -> String? { object(text)?["updatedAt"]?.textValue }

    /// Returns the binding in a stored token.
    static func binding(inStoredText text: String) -> String? { object(text).flatMap(binding) }

    private static func binding(_ object: [String: ItemValue]) -> String? { object["query"]?.textValue }

    private static func object(_ storedText: String) -> [String: ItemValue]? {
        guard case .object(let object)? = try? ItemValue(json: Data(storedText.utf8)) else { return nil }
        return object
    }

    init(updatedAtText: String, updatedAt: Timestamp, id: String) {
        self.updatedAtText = updatedAtText
        self.updatedAt = updatedAt
        self.id = id
    }
}
