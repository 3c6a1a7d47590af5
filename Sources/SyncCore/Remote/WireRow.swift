// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of a response as an item with system properties, as far as it can be read.
package struct WireRow: Sendable {
    /// The item with all fields and system properties that can be read. The id is empty if the row has none, and may be
    /// invalid if ``problems`` say so.
    package let item: Item
    /// The server's text of `updatedAt`, for delta tokens, which keep it unchanged.
    package let updatedAtText: String?
    /// The parts that cannot be read. A row with problems is not stored, because its missing fields would be read as null.
    package let problems: [Problem]

    /// A part of a row that cannot be read.
    package struct Problem: Error, Sendable {
        /// The column, the system property or `id`.
        package let column: String
        /// The reason, as a sentence.
        package let error: SyncError
    }

    /// Reads a row. The version of the response's `ETag` has precedence over the row's.
    ///
    /// With a table's definition, the fields are its columns with their types. Without one, the fields have JSON types:
    /// dates and binary data are text.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/expectedItemInResponse`` when the row has no id,
    ///   ``SyncError/Code/invalidItemID`` when the id is not valid, ``SyncError/Code/unreadableResponse`` when
    ///   a system property cannot be read; the message names the row. ``SyncError/Code/invalidItem`` when a
    ///   field does not fit its column.
    package init(
        _ row: [String: ItemValue], version: String? = nil, dialect: WireDialect,
        definition: SyncTableDefinition? = nil
    ) throws(SyncError) {
        let row = WireObject(row)
        var reader = WireRowReader(dialect: dialect, definition: definition, names: row.names)
        self = try reader.read(row, version: version)
    }

    init(item: Item, updatedAtText: String?, problems: [Problem]) {
        self.item = item
        self.updatedAtText = updatedAtText
        self.problems = problems
    }
}

extension RemoteResponse {
    /// Returns the row of the response with its version, or `nil` if there is none.
    ///
    /// - Throws: as ``WireRow/init(_:version:dialect:definition:)``.
    package func row(dialect: WireDialect) throws(SyncError) -> WireRow? {
        guard case .row(let row) = body else { return nil }
        // A server can also tag an error that repeats the request, which is not the row.
        let isTagOfRow = isSuccess || row[dialect.systemNames.version]?.textValue != nil
        return try WireRow(row, version: isTagOfRow ? version : nil, dialect: dialect)
    }
}
