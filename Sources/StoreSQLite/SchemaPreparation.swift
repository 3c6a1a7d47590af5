// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncCore

/// Migrates the tables of a database to the declared ones: creates tables, adds columns, and drops only indexes.
struct SchemaPreparation {
    let connection: Connection
    /// Whether the store has opened the database itself.
    let isOwned: Bool
    /// Whether the file is a store's. Its tables have the store's forms of values, except those that an app has created there.
    let isStoreFile: Bool
    /// Receives the items of the app that cannot be migrated.
    var logger: Logger?
    /// Decides which stored columns the opening determines; `nil` if the file is not shared.
    var sharedColumns: SharedColumns?

    /// - Throws: ``StoreError/Code/schemaMismatch`` when an existing table or column differs from its declaration.
    func prepare(_ catalog: TableCatalog) throws -> StoreSchema {
        try connection.execute(SystemTables.creation)
        if try !columns(of: "MS_TableOperations").contains(where: { SQLName($0.name) == SQLName("rows") }) {
            try connection.execute("ALTER TABLE \"MS_TableOperations\" ADD COLUMN \"rows\" BLOB")
        }
        let keptTables = try sharedColumns?.keptTables(on: connection) ?? []
        let existing = try SchemaObject.all(on: connection)
        var tables: [ItemTable] = []
        for definition in catalog.tables {
            try requireUsableSize(definition)
            let object = existing[SQLName(definition.name)]
            // Before anything else reads the object, because a view or a virtual table can be endless.
            if let object { try requireTable(object, named: definition.name) }
            let isOfStore = try isOwned || isStoreFile && !AppTable.isOfApp(columns(of: definition.name))
            var found: [String] = []
            if object != nil {
                found =
                    isOfStore
                    ? try addColumns(to: definition)
                    : try AppTablePreparation(connection: connection, definition: definition).addColumns()
            } else {
                try create(definition)
            }
            let columns = try columns(of: definition.name)
            let origin =
                try isOfStore
                ? ItemTable.Origin.store
                : .app(AppTable(definition, columns: columns, on: connection))
            if !keptTables.contains(definition.name) {
                try prepareIndexes(of: definition, columns.map(\.name), existing: existing)
                try StoredDefinition(
                    connection: connection, definition: definition, origin: origin, columns: columns,
                    foundColumns: Set(found.map(UTF8Text.init)), logger: logger
                ).update()
            }
            tables.append(ItemTable(definition, origin: origin, columns: columns.map(\.name)))
        }
        return StoreSchema(catalog, tables: tables)
    }

    private func columns(of table: String) throws -> [AppTable.Column] {
        try AppTable.columns(of: table, on: connection, mayBeStrict: !isOwned)
    }

    private func requireTable(_ object: SchemaObject, named name: String) throws(StoreError) {
        guard object.kind == .table, object.name.hasSameBytes(as: name) else {
            throw StoreError(
                .schemaMismatch,
                "The table '\(name)' cannot be created: rename the \(object.kind.rawValue) '\(object.name)'.")
        }
    }

    private func create(_ definition: SyncTableDefinition) throws {
        var columns = ItemColumns.all.map { "\($0.name.quoted) \($0.type)" }
        columns[0] += " PRIMARY KEY NOT NULL"
        columns += definition.columns.map { "\($0.name.quoted) \($0.type.sqlType)" }
        try connection.execute(
            "CREATE TABLE \(definition.name.quoted) (\n  \(columns.joined(separator: ",\n  "))\n)")
    }

    /// Returns the names of the columns before.
    private func addColumns(to definition: SyncTableDefinition) throws -> [String] {
        let columns = try columns(of: definition.name)
        let existing = Dictionary(columns.map { (SQLName($0.name), $0) }) { first, _ in first }
        for column in ItemColumns.all {
            if ItemColumns.addedLater.contains(column.name), existing[SQLName(column.name)] == nil {
                try connection.execute(
                    """
                    ALTER TABLE \(definition.name.quoted) \
                    ADD COLUMN \(column.name.quoted) \(column.type)
                    """)
                continue
            }
            guard let found = existing[SQLName(column.name)], found.name == column.name,
                found.type == column.type
            else {
                throw StoreError(
                    .schemaMismatch,
                    "The table '\(definition.name)' exists but was not created by this store; rename one of them."
                )
            }
        }
        for column in definition.columns {
            guard let found = existing[SQLName(column.name)] else {
                try connection.execute(
                    """
                    ALTER TABLE \(definition.name.quoted) \
                    ADD COLUMN \(column.name.quoted) \(column.type.sqlType)
                    """)
                continue
            }
            guard found.name == column.name, found.type == column.type.sqlType else {
                throw StoreError(
                    .schemaMismatch,
                    """
                    The column '\(column.name)' of the table '\(definition.name)' is declared as .\(column.type), \
                    but the stored column '\(found.name)' is \(ColumnType.name(ofSQLType: found.type)). \
                    Give the declared column another name.
                    """)
            }
        }
        return columns.map(\.name)
    }

    /// Creates indexes, and drops those of columns that are no longer declared as indexed.
    ///
    /// They are named `Table.column`, which no declared table can be. An index that differs from the store's is the app's.
    private func prepareIndexes(
        of definition: SyncTableDefinition, _ columns: [String], existing: [SQLName: SchemaObject]
    ) throws {
        let declared = definition.columns.filter { $0.isIndexed && $0.type != .json }.map {
            StoreIndex(name: "\(definition.name).\($0.name)", table: definition.name, column: $0.name)
        }
        let found = storeIndexes(of: definition.name, columns, among: existing)
        for index in found where !declared.contains(index) {
            try connection.execute("DROP INDEX \(index.name.quoted)")
        }
        let dropped = Set(found.filter { !declared.contains($0) }.map { SQLName($0.name) })
        for index in declared {
            let name = SQLName(index.name)
            guard existing[name]?.kind != .index || dropped.contains(name) else { continue }
            try connection.execute(index.creation)
        }
    }

    /// Returns the indexes that the store has created for the table. The app may have renamed its column or the table since.
    private func storeIndexes(
        of table: String, _ columns: [String], among existing: [SQLName: SchemaObject]
    ) -> [StoreIndex] {
        existing.values.filter { $0.kind == .index }.sorted { $0.name < $1.name }.compactMap {
            found in
            columns.lazy.map { StoreIndex(name: found.name, table: table, column: $0) }.first { index in
                found.sql?.hasSameBytes(as: index.creation) == true
                    && (found.name.hasPrefix(table + ".") || found.name.hasSuffix("." + index.column))
            }
        }
    }

    private struct StoreIndex: Equatable {
        let name: String
        let table: String
        let column: String

        var creation: String { "CREATE INDEX \(name.quoted) ON \(table.quoted)(\(column.quoted))" }
    }

    private func requireUsableSize(_ definition: SyncTableDefinition) throws(StoreError) {
        let limit = 2000 - ItemColumns.all.count
        guard definition.columns.count <= limit else {
            throw StoreError(
                .unsupported,
                "The table '\(definition.name)' has more than \(limit) columns; declare fewer."
            )
        }
    }
}
