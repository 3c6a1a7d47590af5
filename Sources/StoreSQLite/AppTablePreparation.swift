// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Makes a table of the app's database fit for items: adds columns, and refuses what cannot hold them.
struct AppTablePreparation {
    let connection: Connection
    let definition: SyncTableDefinition

    /// - Throws: ``StoreError/Code/schemaMismatch``.
    func addColumns() throws {
        let columns = try AppTable.columns(of: definition.name, on: connection)
        let existing = Dictionary(columns.map { ($0.name.lowercased(), $0) }) { first, _ in first }
        try requireUsableID(existing["id"])
        let declared = definition.columns.map { ($0.name, $0.type) }
        let system = ItemColumns.all.dropFirst().map { column in
            (column.name, definition.type(ofColumn: column.name) ?? .text)
        }
        for (name, type) in system + declared {
            guard let found = existing[name.lowercased()] else {
                // These names are types in tables of every kind, strict ones included.
                try connection.execute(
                    """
                    ALTER TABLE \(definition.name.quoted) \
                    ADD COLUMN \(name.quoted) \(type.strictSQLType)
                    """)
                continue
            }
            guard found.name == name, ColumnAffinity(declaredType: found.type).holds(type) else {
                throw StoreError(
                    .schemaMismatch,
                    """
                    The column '\(found.name)' of the table '\(definition.name)' is declared as \
                    '\(found.type)' there; it cannot hold \(type.rawValue) values of '\(name)'.
                    """)
            }
        }
    }

    private func requireUsableID(_ id: AppTable.Column?) throws {
        guard let id, id.name == "id", ColumnAffinity(declaredType: id.type).holds(.text) else {
            throw StoreError(
                .schemaMismatch,
                "The table '\(definition.name)' needs a column 'id' of text; add one, or use another table.")
        }
        guard try hasUniqueIndexOfID else {
            throw StoreError(
                .schemaMismatch,
                """
                The column 'id' of the table '\(definition.name)' must be unique, as its bytes are: make it the \
                primary key, or give it a unique index without a collation.
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

/// What SQLite makes of values that are stored in a column, by its declared type.
enum ColumnAffinity {
    case integer, text, blob, real, numeric

    /// The rules of SQLite's manual, in their order.
    init(declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ part: String) -> Bool { type.contains(part) }
        if has("INT") {
            self = .integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            self = .text
        } else if has("BLOB") || type.isEmpty {
            self = .blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// Whether values of that type come back as they were stored.
    func holds(_ type: ColumnType) -> Bool {
        switch type {
        case .bool, .integer: self == .integer || self == .numeric || self == .blob
        case .double: self != .text
        case .text, .json: self == .text || self == .blob
        // A date's text is no number, so no affinity changes it.
        case .date: true
        case .data: self == .blob || self == .numeric
        }
    }
}

extension ColumnType {
    /// A type that strict tables know too.
    fileprivate var strictSQLType: String {
        switch self {
        case .bool, .integer: "INTEGER"
        case .double: "REAL"
        case .text, .date, .json: "TEXT"
        case .data: "BLOB"
        }
    }
}
