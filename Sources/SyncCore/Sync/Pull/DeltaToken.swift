// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How far an incremental pull has come: the last row that it has stored, in the order of `updatedAt` and id.
struct DeltaToken: Sendable, Hashable {
    /// The server's own text of the row's `updatedAt`.
    let updatedAtText: String
    /// The same as an instant.
    let updatedAt: Timestamp
    /// The row's id.
    let id: String
    /// What has been read of the rows that share the row's `updatedAt`.
    var instant = Instant.open
    /// Whether the first pull has not ended yet, which brings the rows without `updatedAt`.
    var isFirstPull = false

    /// What has been read of the rows of one `updatedAt`.
    enum Instant: String, Sendable, Hashable {
        /// Rows could still get this `updatedAt` when they were read: they have to be read again.
        case open
        /// No row gets it any more. They have been read up to the token's id.
        case closed
        /// No row gets it any more, and all of them have been read.
        case complete
    }

    /// The token at the last of the rows, in the order of `updatedAt` and id.
    static func last(of rows: [PulledRow]) -> DeltaToken? {
        rows.compactMap(\.token).max { $0.precedes($1) }
    }

    /// Whether the other row comes after this one.
    func precedes(_ other: DeltaToken) -> Bool {
        if updatedAt.isSameInstant(as: other.updatedAt) { return id.precedesInBytes(other.id) }
        return updatedAt.isEarlier(than: other.updatedAt)
    }

    /// The text kept in the table config, bound to what the pull asks for: see ``PullBinding``.
    func storedText(for binding: String) -> String {
        var object: [String: ItemValue] = [
            "updatedAt": .text(updatedAtText), "id": .text(id), "query": .text(binding),
            "instant": .text(instant.rawValue),
        ]
        if isFirstPull { object["isFirstPull"] = true }
        return String(decoding: ItemValue.object(object).json, as: UTF8.self)
    }

    /// Reads ``storedText(for:)``; `nil` when it is bound to something else, so that the pull starts over.
    init?(storedText: String, for binding: String) {
        guard let object = Self.object(storedText), Self.binding(object)?.hasSameBytes(as: binding) == true,
            let text = object["updatedAt"]?.textValue, let updatedAt = Timestamp(text),
            let id = object["id"]?.textValue
        else { return nil }
        self.init(updatedAtText: text, updatedAt: updatedAt, id: id)
        instant = object["instant"]?.textValue.flatMap(Instant.init) ?? .open
        isFirstPull = object["isFirstPull"] == .bool(true)
    }

    /// The `updatedAt` in a stored token, whatever it is bound to.
    static func updatedAtText(inStoredText text: String) -> String? { object(text)?["updatedAt"]?.textValue }

    /// What a stored token is bound to.
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

/// A row of a page, normalised, with the server's own text of its `updatedAt`.
struct PulledRow: Sendable {
    let item: Item
    let updatedAtText: String?
    /// Whether the item is as the server has it, and can be stored.
    var isReadable = true

    /// Whether the row has an id, though perhaps one that cannot be stored.
    var hasID: Bool { !item.id.isEmpty }

    /// Whether the server has no `updatedAt` for the row.
    var isUndated: Bool { updatedAtText == nil && hasID }

    /// The token at this row; `nil` when its place in the order is not known.
    var token: DeltaToken? {
        guard let updatedAtText, let updatedAt = item.system.updatedAt, hasID else { return nil }
        return DeltaToken(updatedAtText: updatedAtText, updatedAt: updatedAt, id: item.id)
    }
}
