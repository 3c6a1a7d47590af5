// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore

/// One row as the server keeps it.
public struct TableRow: Sendable, Hashable {
    /// The id, exact byte for byte.
    public let id: String
    /// The row's own fields, without the id and without system properties.
    public var fields: [String: ItemValue]
    /// When the row was inserted, by the server's clock.
    public let createdAt: Timestamp
    /// When the row was last changed, by the server's clock.
    public var updatedAt: Timestamp
    /// How many times the row was written since it was inserted, which is all that a version is made of.
    var revision: Int64
    /// Whether the row is a tombstone.
    public var deleted: Bool
    /// The place of the row among all that were ever inserted into its table.
    let sequence: Int64

    /// The opaque revision of the row, new at each change; it starts over when a row is removed and inserted again.
    public var version: String { Data(String(revision).utf8).base64EncodedString() }

    /// Compares every part; ids are the same only when their bytes are.
    public static func == (left: TableRow, right: TableRow) -> Bool {
        left.key == right.key && left.fields == right.fields && left.createdAt == right.createdAt
            && left.updatedAt == right.updatedAt && left.revision == right.revision
            && left.deleted == right.deleted && left.sequence == right.sequence
    }
}

extension TableRow {
    var key: RowKey { RowKey(id) }

    /// The row's place in the order of changes.
    var updateKey: UpdateKey { UpdateKey(updatedAt: updatedAt, id: key) }

    /// The row after one more change.
    func changed(at stamp: Timestamp, _ change: (inout TableRow) -> Void) -> TableRow {
        var row = self
        change(&row)
        row.updatedAt = stamp
        row.revision += 1
        return row
    }
}
