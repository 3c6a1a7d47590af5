// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore

/// One row of the server.
public struct TableRow: Sendable, Hashable {
    /// The id, compared by its bytes.
    public let id: String
    /// The row's fields without the id and the system properties.
    public var fields: [String: ItemValue]
    /// The time of the insert, by the server's clock.
    public let createdAt: Timestamp
    /// The time of the last change, by the server's clock.
    public var updatedAt: Timestamp
    /// Greater after each write; the version is made from it.
    package var revision: Int64
    /// Whether the row is a tombstone.
    public var deleted: Bool
    /// The row's number in the order of inserts into its table; 0 before the insert.
    package var sequence: Int64

    /// The opaque version, new at each change. It does not start again when a row is removed and inserted again, unless
    /// ``TableServer/Configuration/restartsVersions`` is on.
    public var version: String { Self.version(ofRevision: revision) }

    static func version(ofRevision revision: Int64) -> String {
        Data(String(revision).utf8).base64EncodedString()
    }

    /// Compares all properties; ids are compared by their bytes.
    public static func == (left: TableRow, right: TableRow) -> Bool {
        left.id.hasSameBytes(as: right.id) && left.fields == right.fields
            && left.createdAt == right.createdAt && left.updatedAt == right.updatedAt
            && left.revision == right.revision && left.deleted == right.deleted
            && left.sequence == right.sequence
    }
}

extension TableRow {
    /// Returns the names of the fields that another row does not have, in a fixed order.
    package func names(notIn other: TableRow?) -> [String] {
        fields.keys.filter { other?.fields[$0] == nil }.sorted()
    }

    /// Returns the row after one more change.
    func changed(
        at stamp: Timestamp, _ change: (inout TableRow) throws -> Void
    ) rethrows -> TableRow {
        var row = self
        try change(&row)
        row.updatedAt = stamp
        row.revision += 1
        return row
    }
}
