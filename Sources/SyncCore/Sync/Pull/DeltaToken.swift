// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How far an incremental pull has come: the last row that it has stored, in the order of `updatedAt` and id.
struct DeltaToken: Sendable, Hashable {
    /// The server's own text of the row's `updatedAt`.
    var updatedAtText: String
    /// The same as an instant.
    var updatedAt: Timestamp
    /// The row's id.
    var id: String
    /// The page size that the server is known to honour, if any.
    var fullPageSize: Int?

    /// Whether the row comes after this one.
    func precedes(_ row: PulledRow) -> Bool {
        guard let rowUpdatedAt = row.item.system.updatedAt else { return false }
        if updatedAt.isSameInstant(as: rowUpdatedAt) {
            return id.precedesInBytes(row.item.id)
        }
        return updatedAt.isEarlier(than: rowUpdatedAt)
    }

    /// The text kept in the table config, bound to the query that the pull asks.
    func storedText(for query: String) -> String {
        var object: [String: ItemValue] = [
            "updatedAt": .text(updatedAtText), "id": .text(id), "query": .text(query),
        ]
        object["fullPageSize"] = fullPageSize.map { .int(Int64($0)) }
        return String(decoding: ItemValue.object(object).json, as: UTF8.self)
    }

    /// Reads ``storedText(for:)``; `nil` when it belongs to another query, so that the pull starts over.
    init?(storedText: String, for query: String) {
        guard case .object(let object)? = try? ItemValue(json: Data(storedText.utf8)),
            object["query"]?.textValue?.hasSameBytes(as: query) == true,
            let text = object["updatedAt"]?.textValue, let updatedAt = Timestamp(text),
            let id = object["id"]?.textValue
        else { return nil }
        self.init(
            updatedAtText: text, updatedAt: updatedAt, id: id,
            fullPageSize: object["fullPageSize"]?.intValue.map(Int.init))
    }

    /// The `updatedAt` in a stored token, whatever query it belongs to.
    static func updatedAtText(inStoredText text: String) -> String? {
        guard case .object(let object)? = try? ItemValue(json: Data(text.utf8)) else { return nil }
        return object["updatedAt"]?.textValue
    }

    init(updatedAtText: String, updatedAt: Timestamp, id: String, fullPageSize: Int? = nil) {
        self.updatedAtText = updatedAtText
        self.updatedAt = updatedAt
        self.id = id
        self.fullPageSize = fullPageSize
    }
}

/// A row of a page, normalised, with the server's own text of its `updatedAt`.
struct PulledRow: Sendable {
    let item: Item
    let updatedAtText: String?

    /// The token that stands at this row.
    var token: DeltaToken? {
        guard let updatedAtText, let updatedAt = item.system.updatedAt else { return nil }
        return DeltaToken(updatedAtText: updatedAtText, updatedAt: updatedAt, id: item.id)
    }
}
