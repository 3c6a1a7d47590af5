// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logging
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
    /// The names of the columns before the store added any; empty if the store has created the table.
    let foundColumns: Set<UTF8Text>
    let logger: Logger?

    fileprivate static let columnsKey = "synced"
    private static let parentsKey = "parents"
    private static let schemaKey = "schema"

    /// - Throws: ``StoreError``; ``StoreError/Code/corrupt`` when a stored list is damaged.
    func update() throws {
        try updateParents()
        let stored = try storedText(Self.columnsKey)
        let current = Self.columnsText(of: definition)
        let former = try stored.map(Self.columns(in:))
        let isRebuilt = try updateSchema()
        let lost = try former.map { try lostValues($0, isRebuilt: isRebuilt) } ?? LostValues()
        guard stored != current || !lost.isEmpty else { return }
        let change = SyncedColumnsChange(to: definition, from: former, lost: lost)
        let table = ItemTable(change.union, origin: origin, columns: columns.map(\.name))
        let schema = StoreSchema(try TableCatalog([change.union]), tables: [table])
        let transaction = SQLiteTransaction(connection: connection, schema: schema)
        // A value of the app that cannot be read must not prevent the opening.
        let ids = try table.isShared ? ids(of: table) : nil
        try change.run(in: transaction, readableAmong: ids) { id, error in
            // Ids are logged at level `trace` only.
            let reason = (error.cause as? DatabaseError)?.message ?? error.code.description
            logger?.warning(
                "item not migrated", metadata: ["table": "\(definition.name)", "reason": "\(reason)"])
            logger?.trace("item not migrated", metadata: ["table": "\(definition.name)", "item": "\(id)"])
        }
        if foundColumns.isEmpty, former != nil { try removeChangesOfDroppedTable(in: transaction) }
        try store(current, Self.columnsKey)
    }

    /// The app has dropped the table, and its unsent inserts and updates with it: the server's rows are pulled again.
    private func removeChangesOfDroppedTable(in transaction: SQLiteTransaction) throws {
        let operations = try transaction.operations(after: 0, in: definition.name, limit: .max)
        for operation in operations where operation.kind != .delete {
            try transaction.removeOperation(id: operation.id)
            try transaction.removeOperationError(operationID: operation.id)
            logger?.warning(
                "change of a dropped table not kept",
                metadata: ["table": "\(definition.name)", "operation": "\(operation.id)"])
        }
    }

    /// Returns what the app has removed from the table since the store was last open with these columns.
    private func lostValues(_ former: [ColumnDefinition], isRebuilt: Bool) throws -> LostValues {
        let isNew = foundColumns.isEmpty
        guard isShared || isNew else { return LostValues() }
        let system = ItemColumns.all.map(\.name).filter { !foundColumns.contains(UTF8Text($0)) }
        // ALTER TABLE does not drop the store's columns with the app's.
        let isRebuilt = isRebuilt || system.contains { !ItemColumns.addedLater.contains($0) }
        let names =
            former.map { $0 }
            + definition.columns.filter { column in
                !column.isLocalOnly && !former.contains { $0.name == column.name }
            }
        let lost = try names.filter { column in
            guard foundColumns.contains(UTF8Text(column.name)), let found = sqlColumn(column) else {
                return true
            }
            return try isRebuilt && former.contains { $0.name == column.name } && isEmpty(found)
        }
        return LostValues(
            columns: Set(lost.map(\.name)), hasLostUndeclared: system.contains("$undeclared"),
            hasLostSystem: !ItemColumns.serverProperties.isDisjoint(with: system))
    }

    private var isShared: Bool { if case .app = origin { true } else { false } }

    /// The column of the SQL table if its values have the column's present type.
    private func sqlColumn(_ column: ColumnDefinition) -> AppTable.Column? {
        let type = definition.column(named: column.name)?.type ?? column.type
        return columns.first { $0.name.hasSameBytes(as: column.name) && $0.holds(type) }
    }

    /// Whether all rows have the column's default, as they have after the app has dropped the column and added it again.
    private func isEmpty(_ column: AppTable.Column) throws -> Bool {
        try connection.prepared(
            """
            SELECT 1 FROM \(definition.name.quoted)
            WHERE \(column.name.quoted) IS NOT \(column.defaultExpression ?? "NULL") LIMIT 1
            """
        ).firstRow { _ in true } == nil
    }

    /// Stores the schema of an app's table, to detect later changes.
    ///
    /// - Returns: whether columns that the table still has may have lost their values: the app has rebuilt the table, or has
    ///   dropped a column and added it again.
    private func updateSchema() throws -> Bool {
        guard isShared, let schema = try connection.creation(ofTable: definition.name) else { return false }
        let stored = try storedText(Self.schemaKey)
        guard stored != schema else { return false }
        try store(schema, Self.schemaKey)
        guard let stored else { return false }
        guard let former = CreateTableStatement(stored), let current = CreateTableStatement(schema) else {
            return true
        }
        return !former.canBeAltered(to: current)
    }

    /// Returns the ids of an app's table. The app may have stored nulls, and texts that are not UTF-8.
    private func ids(of table: ItemTable) throws -> [String] {
        var ids: [String] = []
        try connection.prepared("SELECT \"id\" FROM \(table.name)").forEachRow { row in
            if let id = try? row.text(at: 0) { ids.append(id) }
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
        try Self.storedText(key, of: definition.name, on: connection)
    }

    private static func storedText(
        _ key: String, of table: String, on connection: Connection
    ) throws -> String? {
        let statement = try connection.cached(
            "SELECT \"value\" FROM \"MS_TableConfig\" WHERE \"table\"=? AND \"keyType\"='columns' AND \"key\"=?"
        )
        try statement.bind(table, at: 1)
        try statement.bind(key, at: 2)
        return try statement.firstRow { try $0.text(at: 0) } ?? nil
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

    private static func columns(in text: String) throws(StoreError) -> [ColumnDefinition] {
        guard case .object(let types)? = try? ItemValue(storedJSON: Array(text.utf8)) else {
            throw StoreError(.corrupt, "The store is damaged: the list of synced columns is not valid JSON.")
        }
        return types.compactMap { name, type in
            type.textValue.flatMap(ColumnType.init(rawValue:)).map { ColumnDefinition(name, $0) }
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
    /// Returns the list that is stored for a table with these columns.
    static func columnsText(of definition: SyncTableDefinition) -> String {
        let types = definition.columns.filter { !$0.isLocalOnly }.map {
            ($0.name, ItemValue.text($0.type.rawValue))
        }
        let object = ItemValue.object(Dictionary(uniqueKeysWithValues: types))
        return String(decoding: object.storedJSON, as: UTF8.self)
    }

    /// Returns the stored list of a table's synced columns; `nil` for a new table.
    static func columnsText(of table: String, on connection: Connection) throws -> String? {
        try storedText(columnsKey, of: table, on: connection)
    }

    /// Returns the synced columns that are stored for a table; none for a new table.
    static func columns(of table: String, on connection: Connection) throws -> [ColumnDefinition] {
        try columnsText(of: table, on: connection).map(columns(in:)) ?? []
    }

    /// Returns the stored definitions of all tables, in the order of their names, without local-only columns.
    static func all(on connection: Connection) throws -> [SyncTableDefinition] {
        var tables: [(name: String, columns: [ColumnDefinition])] = []
        var parents: [String: [String]] = [:]
        let statement = try connection.prepared(
            """
            SELECT "table","key","value" FROM "MS_TableConfig" WHERE "keyType"='columns' ORDER BY "table"
            """)
        try statement.forEachRow { row in
            let (table, text) = (try row.text(at: 0) ?? "", try row.text(at: 2) ?? "")
            switch try row.text(at: 1) {
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
