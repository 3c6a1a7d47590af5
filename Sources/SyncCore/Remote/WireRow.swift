// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of an answer as an item, with the system properties split off, as far as it can be read.
package struct WireRow: Sendable {
    /// The item with every field and system property that can be read. The id is empty when the row has none, and may
    /// break the rules for ids when ``problems`` say so.
    package let item: Item
    /// The server's own text of `updatedAt`, for delta tokens, which are never rewritten.
    package let updatedAtText: String?
    /// What cannot be read. Such a row is not stored: an item without some of its fields would look like one in which
    /// they are null.
    package let problems: [Problem]

    /// A part of a row that cannot be read.
    package struct Problem: Error, Sendable {
        /// The column, the system property or `id`.
        package let column: String
        /// Why, as a sentence.
        package let error: SyncError
    }

    /// Reads a row. The version of the answer's `ETag`, if any, wins over the row's own.
    ///
    /// With a table's definition the fields are its columns, of their types. Without one they are as JSON has them:
    /// dates and binary data are still text.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/expectedItemInResponse`` when the row has no id,
    ///   ``SyncError/Code/invalidItemID`` when the id breaks the rules, ``SyncError/Code/unreadableResponse`` when
    ///   a system property is not what it must be; the message names the row. ``SyncError/Code/invalidItem`` when a
    ///   field does not fit its column.
    package init(
        _ row: [String: ItemValue], version: String? = nil, dialect: WireDialect,
        definition: SyncTableDefinition? = nil
    ) throws(SyncError) {
        var reader = WireRowReader(dialect: dialect, definition: definition)
        self = try reader.read(WireObject(row), version: version)
    }

    init(item: Item, updatedAtText: String?, problems: [Problem]) {
        self.item = item
        self.updatedAtText = updatedAtText
        self.problems = problems
    }
}

extension RemoteResponse {
    /// The row of the answer with its version, or `nil` when there is no row.
    ///
    /// - Throws: as ``WireRow/init(_:version:dialect:definition:)``.
    package func row(dialect: WireDialect) throws(SyncError) -> WireRow? {
        guard case .row(let row) = body else { return nil }
        return try WireRow(row, version: version, dialect: dialect)
    }
}
