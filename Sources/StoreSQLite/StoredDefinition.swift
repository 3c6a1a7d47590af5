// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Stores which columns of a table are synced and which tables are its parents, and moves values when the columns change.
///
/// Both lists are in the table config, under a key type that no config value uses: an object of column names and types, and
/// an array of table names.
struct StoredDefinition {
    let connection: Connection
    let definition: SyncTableDefinition
    let origin: ItemTable.Origin
    /// The columns of the SQL table, from which an app may have dropped synced columns.
    let columns: [AppTable.Column]

    private static let columnsKey = "synced"
    private static let parentsKey = "parents"

    /// - Throws: ``StoreError``; ``StoreError/Code/corrupt`` when a stored list is damaged.
    func update() throws {
        try updateParents()
        let stored = try storedText(Self.columnsKey)
        let current = columnsText
        guard stored != current else { return }
        let change = SyncedColumnsChange(
            to: definition, from: try stored.map(Self.columns(in:)), hasValues: hasValues)
        let table = ItemTable(change.union, origin: origin, columns: columns.map(\.name))
        let schema = StoreSchema(try TableCatalog([change.union]), tables: [table])
        let transaction = SQLiteTransaction(connection: connection, schema: schema)
        // A value of the app that cannot be read must not prevent the opening.
        let ids = try table.isShared ? ids(of: table) : nil
        try change.run(in: transaction, readableAmong: ids)
        try store(current, Self.columnsKey)
    }

    /// Whether the SQL table still has the column, with values of its type.
    private func hasValues(_ column: ColumnDefinition) -> Bool {
        columns.contains {
            $0.name.hasSameBytes(as: column.name) && ColumnAffinity(declaredType: $0.type).holds(column.type)
        }
    }

    /// Returns the ids of an app's table. The app may have stored nulls.
    private func ids(of table: ItemTable) throws -> [String] {
        var ids: [String] = []
        try connection.prepared("SELECT \"id\" FROM \(table.name)").forEachRow { row in
            if let id = row.text(at: 0) { ids.append(id) }
        }
        return ids
    }

    /// A table that has never had parents has no list.
    private func updateParents() throws {
        let stored = try storedText(Self.parentsKey)
        guard try stored.map(Self.parents(in:)) ?? [] != definition.parents else { return }
        let parents = ItemValue.array(definition.parents.map(ItemValue.text))
        try store(String(decoding: parents.storedJSON, as: UTF8.self), Self.parentsKey)
    }

    private func storedText(_ key: String) throws -> String? {
        let statement = try connection.cached(
            "SELECT \"value\" FROM \"MS_TableConfig\" WHERE \"table\"=? AND \"keyType\"='columns' AND \"key\"=?"
        )
        try statement.bind(definition.name, at: 1)
        try statement.bind(key, at: 2)
        return try statement.firstRow { $0.text(at: 0) } ?? nil
    }

    private func store(_ text: String, _ key: String) throws {
        let statement = try connection.cached(
            """
            INSERT INTO "MS_TableConfig"("table","keyType","key","value") VALUES(?, 'columns', ?, ?)
            ON CONFLICT("table","keyType","key") DO UPDATE SET "value"=excluded."value"
            """, writes: true)
        try statement.bind(definition.name, at: 1)
        try statement.bind(key, at: 2)
        try statement.bind(text, at: 3)
        try statement.execute()
    }

    private var columnsText: String {
        let types = definition.columns.filter { !$0.isLocalOnly }.map {
            ($0.name, ItemValue.text($0.type.rawValue))
        }
        let object = ItemValue.object(Dictionary(uniqueKeysWithValues: types))
        return String(decoding: object.storedJSON, as: UTF8.self)
    }

    private static func columns(in text: String) throws(StoreError) -> [ColumnDefinition] {
        guard case .object(let types)? = try? ItemValue(storedJSON: Array(text.utf8)) else {
            throw StoreError(.corrupt, "The store is damaged: the list of synced columns is not valid JSON.")
        }
        return types.compactMap { name, type in
            type.textValue.flatMap(ColumnType.init).map { ColumnDefinition(name, $0) }
        }
    }

    private static func parents(in text: String) throws(StoreError) -> [String] {
        guard case .array(let parents)? = try? ItemValue(storedJSON: Array(text.utf8)) else {
            throw StoreError(.corrupt, "The store is damaged: the list of parents is not valid JSON.")
        }
        return parents.compactMap(\.textValue)
    }
}

extension StoredDefinition {
    /// Returns the stored definitions of all tables, in the order of their names, without local-only columns.
    static func all(on connection: Connection) throws -> [SyncTableDefinition] {
        var tables: [(name: String, columns: [ColumnDefinition])] = []
        var parents: [String: [String]] = [:]
        let statement = try connection.prepared(
            """
            SELECT "table","key","value" FROM "MS_TableConfig" WHERE "keyType"='columns' ORDER BY "table"
            """)
        try statement.forEachRow { row in
            let (table, text) = (row.text(at: 0) ?? "", row.text(at: 2) ?? "")
            switch row.text(at: 1) {
            case columnsKey: tables.append((table, try columns(in: text).sorted { $0.name < $1.name }))
            case parentsKey: parents[table] = try self.parents(in: text)
            default: break
            }
        }
        return tables.map {
            SyncTableDefinition($0.name, columns: $0.columns, parents: parents[$0.name] ?? [])
        }
    }
}
