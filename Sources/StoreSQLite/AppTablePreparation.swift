// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Prepares an app's table for items: adds missing columns, and throws when an existing column is unsuitable.
struct AppTablePreparation {
    let connection: Connection
    let definition: SyncTableDefinition

    /// - Returns: the names of the columns before.
    /// - Throws: ``StoreError/Code/schemaMismatch``.
    func addColumns() throws -> [String] {
        let columns = try AppTable.columns(of: definition.name, on: connection, mayBeStrict: true)
        let existing = Dictionary(columns.map { (SQLName($0.name), $0) }) { first, _ in first }
        try requireUsableID(existing[SQLName("id")])
        let declared = definition.columns.map { ($0.name, $0.type) }
        let system = ItemColumns.all.dropFirst().map { column in
            (column.name, definition.type(ofColumn: column.name) ?? .text)
        }
        for (name, type) in system + declared {
            guard let found = existing[SQLName(name)] else {
                // These type names are valid in STRICT tables too.
                try connection.execute(
                    """
                    ALTER TABLE \(definition.name.quoted) \
                    ADD COLUMN \(name.quoted) \(type.strictSQLType)
                    """)
                continue
            }
            guard !found.isGenerated else {
                throw StoreError(
                    .schemaMismatch,
                    "The column '\(found.name)' of the table '\(definition.name)' is generated; declare another column."
                )
            }
            guard found.name == name, found.holds(type) else {
                throw StoreError(
                    .schemaMismatch,
                    """
                    The column '\(found.name)' of the table '\(definition.name)' has the SQL type '\(found.type)', which cannot \
                    store \(type.rawValue) values of '\(name)' exactly; change its type, or declare another column.
                    """)
            }
        }
        return columns.map(\.name)
    }

    private func requireUsableID(_ id: AppTable.Column?) throws {
        guard let id, id.name == "id", !id.isGenerated, id.holds(.text) else {
            throw StoreError(
                .schemaMismatch,
                "The table '\(definition.name)' has no TEXT column 'id'; add one.")
        }
        guard try hasUniqueIndexOfID,
            connection.collation(ofColumn: "id", of: definition.name)?.uppercased() == "BINARY"
        else {
            throw StoreError(
                .schemaMismatch,
                """
                The column 'id' of the table '\(definition.name)' must be unique with the BINARY collation: make it the \
                primary key, or create a unique index, and declare no other collation.
                """)
        }
    }

    private var hasUniqueIndexOfID: Bool {
        get throws {
            let statement = try connection.prepared(
                """
                SELECT 1 FROM pragma_index_list(?1) AS list WHERE list."unique" AND NOT list."partial"
                AND (SELECT count(*) FROM pragma_index_xinfo(list."name") WHERE "key")=1
                AND EXISTS (
                  SELECT 1 FROM pragma_index_xinfo(list."name")
                  WHERE "key" AND lower("name")='id' AND "coll"='BINARY')
                """)
            try statement.bind(definition.name, at: 1)
            return try statement.firstRow { _ in true } ?? false
        }
    }
}

extension ColumnType {
    /// A type name that is valid in STRICT tables too.
    fileprivate var strictSQLType: String {
        switch self {
        case .bool, .integer: "INTEGER"
        case .double: "REAL"
        case .text, .date, .json: "TEXT"
        case .data: "BLOB"
        }
    }
}
