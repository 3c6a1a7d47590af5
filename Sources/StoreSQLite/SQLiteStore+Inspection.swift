// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import SyncCore

extension SQLiteStore {
    /// Returns whether a file that begins with these bytes is an SQLite database.
    package static func recognizes(header: [UInt8]) -> Bool { header.starts(with: "SQLite format 3\0".utf8) }

    /// Runs the body on a snapshot of the store in the file, which apps may have open at the same time.
    ///
    /// Changes no file and creates none. An app's reads and writes do not wait for it.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/cannotOpen``, ``StoreError/Code/corrupt``,
    ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/unsupported`` for an older format;
    ///   ``StoreError/Code/unavailable`` when the file changes during each attempt to read it.
    package static func inspect<T>(path: String, _ body: (StoreContents) throws -> T) throws -> T {
        try UnchangedDatabase(path: path).read { connection in
            let ownsFile = try connection.int("PRAGMA application_id") == StoreFormat.applicationID
            let format = StoreFormat(connection: connection, ownsFile: ownsFile)
            let version = try format.requireCurrentVersion()
            if ownsFile { try LeftoverLog(databasePath: path).require(format.identity) }
            let catalog = try TableCatalog(existing(StoredDefinition.all(on: connection), on: connection))
            let tables = try catalog.tables.map { table in
                let columns = try AppTable.columns(of: table.name, on: connection)
                let isOfStore = ownsFile && !AppTable.isOfApp(columns)
                return try ItemTable(
                    table,
                    origin: isOfStore ? .store : .app(AppTable(table, columns: columns, on: connection)))
            }
            let snapshot = SQLiteTransaction(
                connection: connection, schema: StoreSchema(catalog, tables: tables))
            return try body(
                StoreContents(formatVersion: version, catalog: catalog, snapshot: snapshot))
        }
    }

    /// Returns the definitions without tables and columns that the app has dropped.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` for a view or a virtual table in place of a table.
    private static func existing(
        _ definitions: [SyncCore.SyncTableDefinition], on connection: Connection
    ) throws -> [SyncCore.SyncTableDefinition] {
        var found: [SyncCore.SyncTableDefinition] = []
        for definition in definitions where try SchemaObject.hasTable(definition.name, on: connection) {
            let names = try AppTable.columns(of: definition.name, on: connection).map(\.name)
            let columns = Set(names.map(UTF8Text.init))
            // Reads need the store's own columns.
            guard columns.isSuperset(of: ItemColumns.all.map { UTF8Text($0.name) }) else { continue }
            found.append(
                SyncCore.SyncTableDefinition(
                    definition.name,
                    columns: definition.columns.filter { columns.contains(UTF8Text($0.name)) },
                    parents: definition.parents))
        }
        let tables = Set(found.map { UTF8Text($0.name) })
        return found.map { table in
            SyncCore.SyncTableDefinition(
                table.name, columns: table.columns,
                parents: table.parents.filter { tables.contains(UTF8Text($0)) })
        }
    }
}
