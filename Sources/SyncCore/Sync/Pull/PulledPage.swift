// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A page of rows that the server has returned, with the cursor that requested it.
struct PulledPage: Sendable {
    let rows: [PulledRow]
    let unreadable: [UnreadableRow]
    let next: NextPage
    let time: PageTime
    /// How many stored rows ``StalePageGuard`` had recorded when the page was requested.
    let storedRowCount: Int
    /// When the page was requested, by the client's clock.
    let requestedAt: Timestamp
    let cursor: PullCursor
    /// The server's count of all rows that match the query, if it was requested and the server supports it.
    let total: Int?
}

/// A row of a page, normalized, with the server's own text of its `updatedAt`.
struct PulledRow: Sendable {
    let item: Item
    let updatedAtText: String?
    /// Whether every field of the row could be read, so that the item can be stored.
    var isReadable = true

    /// The row if only its id and system properties were requested: it can be stored if it is a tombstone, whose other columns
    /// are unknown.
    var withoutFields: PulledRow {
        var item = item
        item.system.lostValues[SystemProperties.allUndeclared] = .null
        return PulledRow(
            item: item, updatedAtText: updatedAtText, isReadable: isReadable && item.system.deleted)
    }

    /// Whether the row has an id, valid or not, with which a request can continue: a longer one makes the request too long.
    var hasUsableID: Bool { !item.id.isEmpty && item.id.utf8.count <= ItemID.maxUTF8Length }

    /// Whether the row has no `updatedAt`.
    var isUndated: Bool { updatedAtText == nil && !item.id.isEmpty }

    /// The token at this row; `nil` when its position in the order is unknown.
    var token: DeltaToken? {
        guard let updatedAtText, let updatedAt = item.system.updatedAt, hasUsableID else { return nil }
        return DeltaToken(updatedAtText: updatedAtText, updatedAt: updatedAt, id: item.id)
    }
}
