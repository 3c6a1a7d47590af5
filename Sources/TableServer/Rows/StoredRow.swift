// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) package import SyncCore

/// A row as databases keep it: the fields are JSON, so that a list copies them without parsing.
package struct StoredRow: Sendable, Hashable {
    /// The row's number in the order of inserts into its table; 0 before the insert.
    package var sequence: Int64
    package let id: String
    /// Times have the form of ``SyncCore/Timestamp/storedText``.
    package let createdAt: String
    package let updatedAt: String
    package let revision: Int64
    package let deleted: Bool
    /// A JSON object.
    package let fields: String

    package init(
        sequence: Int64, id: String, createdAt: String, updatedAt: String, revision: Int64, deleted: Bool,
        fields: String
    ) {
        self.sequence = sequence
        self.id = id
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.revision = revision
        self.deleted = deleted
        self.fields = fields
    }
}

extension StoredRow {
    var version: String { TableRow.version(ofRevision: revision) }

    package init(_ row: TableRow) {
        self.init(
            sequence: row.sequence, id: row.id, createdAt: row.createdAt.storedText,
            updatedAt: row.updatedAt.storedText, revision: row.revision, deleted: row.deleted,
            fields: String(decoding: ItemValue.object(row.fields).json, as: UTF8.self))
    }
}

extension TableRow {
    /// - Throws: ``TableServerError`` when another program has written a row that is not valid.
    package init(_ row: StoredRow) throws {
        guard case .object(let fields) = try ItemValue(json: Data(row.fields.utf8)),
            let createdAt = Timestamp(storedText: row.createdAt),
            let updatedAt = Timestamp(storedText: row.updatedAt)
        else { throw TableServerError(.storage, "A row in the database is not readable.") }
        self.init(
            id: row.id, fields: fields, createdAt: createdAt, updatedAt: updatedAt, revision: row.revision,
            deleted: row.deleted, sequence: row.sequence)
    }
}

extension Timestamp {
    /// The instant with nine fraction digits and without `Z`: texts of this form have the order of their instants.
    package var storedText: String { showing(fractionDigits: 9).localText }

    /// Reads a stored text. The result has as many fraction digits as the instant needs, but at least three.
    package init?(storedText: String) {
        guard let timestamp = Timestamp(storedText + "Z") else { return nil }
        let zeros = storedText.utf8.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        self = timestamp.showing(fractionDigits: max(3, 9 - zeros))
    }
}
