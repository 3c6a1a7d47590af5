// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of an answer as an item, with the system properties split off.
package struct WireRow: Sendable {
    /// The item.
    package let item: Item
    /// The server's own text of `updatedAt`, for delta tokens, which are never rewritten.
    package let updatedAtText: String?

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
        definition: TableDefinition? = nil
    ) throws(SyncError) {
        guard let id = row["id"]?.textValue else {
            throw SyncError(.expectedItemInResponse, "The server's row has no id, or one that is no text.")
        }
        try ItemID.validate(id)
        let names = dialect.systemNames
        let reader = SystemPropertyReader(row: row, id: id)
        let createdAt = try reader.date(names.createdAt)
        let updatedAt = try reader.date(names.updatedAt)
        let rowVersion = try reader.text(names.version)
        let deleted = try reader.bool(names.deleted) ?? false
        item = Item(
            id: id, fields: try definition?.normalizedFromServer(row) ?? Self.fields(of: row, names),
            system: SystemProperties(
                createdAt: createdAt?.value, updatedAt: updatedAt?.value,
                version: version ?? rowVersion.flatMap { $0.isEmpty ? nil : $0 }, deleted: deleted))
        updatedAtText = updatedAt?.text
    }

    private static func fields(
        of row: [String: ItemValue], _ names: WireDialect.SystemNames
    ) -> [String: ItemValue] {
        var fields = row
        for name in names.all + ["id"] { fields[name] = nil }
        return fields
    }
}

extension RemoteAnswer {
    /// The row of the answer with its version, or `nil` when there is no row.
    ///
    /// - Throws: as ``WireRow/init(_:version:dialect:)``.
    package func row(dialect: WireDialect) throws(SyncError) -> WireRow? {
        guard case .row(let row) = body else { return nil }
        return try WireRow(row, version: version, dialect: dialect)
    }
}

/// Reads the system properties of one row; missing and null are alike.
private struct SystemPropertyReader {
    let row: [String: ItemValue]
    let id: String

    func text(_ name: String) throws(SyncError) -> String? {
        guard let value = present(name) else { return nil }
        guard let text = value.textValue else { throw error(name, "is not a text") }
        return text
    }

    func date(_ name: String) throws(SyncError) -> (value: Timestamp, text: String)? {
        guard let text = try text(name) else { return nil }
        guard let value = Timestamp(text) else { throw error(name, "is not a date") }
        return (value, text)
    }

    func bool(_ name: String) throws(SyncError) -> Bool? {
        guard let value = present(name) else { return nil }
        guard let bool = value.boolValue else { throw error(name, "is neither true nor false") }
        return bool
    }

    private func present(_ name: String) -> ItemValue? {
        guard let value = row[name], !value.isNull else { return .none }
        return value
    }

    private func error(_ name: String, _ problem: String) -> SyncError {
        SyncError(.unreadableResponse, "The server's row '\(id)' cannot be read: its '\(name)' \(problem).")
    }
}
