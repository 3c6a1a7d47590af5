// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// Stores which columns of a table are synced, and moves values when that changes.
///
/// The list is in the table config, under a key type that no config value uses: an object of names and types.
struct SyncedColumns {
    let connection: Connection
    let definition: SyncTableDefinition
    let origin: ItemTable.Origin

    /// - Throws: ``StoreError``; ``StoreError/Code/corrupt`` when the stored list is damaged.
    func update() throws {
        let stored = try storedText
        let current = text
        guard stored != current else { return }
        let change = SyncedColumnsChange(to: definition, from: try stored.map(Self.columns(in:)))
        let schema = StoreSchema(
            try TableCatalog([change.union]), tables: [ItemTable(change.union, origin: origin)])
        try change.run(in: SQLiteTransaction(connection: connection, schema: schema))
        let statement = try connection.prepared(
            """
            INSERT INTO "MS_TableConfig"("table","keyType","key","value") VALUES(?, 'columns', 'synced', ?)
            ON CONFLICT("table","keyType","key") DO UPDATE SET "value"=excluded."value"
            """, writes: true)
        try statement.bind(definition.name, at: 1)
        try statement.bind(current, at: 2)
        try statement.execute()
    }

    private var storedText: String? {
        get throws {
            let statement = try connection.prepared(
                """
                SELECT "value" FROM "MS_TableConfig" WHERE "table"=? AND "keyType"='columns' AND "key"='synced'
                """)
            try statement.bind(definition.name, at: 1)
            return try statement.firstRow { $0.text(at: 0) } ?? nil
        }
    }

    private var text: String {
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
}
