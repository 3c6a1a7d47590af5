// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) package import SyncCore

/// The name of the layout that ``StoreKey`` describes, and its version.
private enum Layout {
    static let name = "swift-sync-context"
    /// Operations of earlier versions are JSON until they are written again.
    static let version = 3
    /// The first version that stores which columns are synced.
    static let firstWithSyncedColumns = 2
}

/// Migrates a map to the declared tables when a store opens.
struct OrderedMapPreparation {
    let catalog: TableCatalog
    let keys: LongKeys
    let capabilities: StoreCapabilities

    /// Writes only when a declaration has changed, so that reopening costs a few lookups.
    ///
    /// - Throws: ``StoreError`` when the map cannot be used with these tables.
    func prepare(_ map: any OrderedMap) throws -> NumberedColumns {
        let prepared = try map.read { snapshot -> NumberedColumns? in
            let reader = OrderedMapReader(map: snapshot, keys: keys, catalog: catalog)
            return try reader.preparedColumns(capabilities).map { try numbered($0, in: reader) }
        }
        if let prepared { return prepared }
        return try map.write { transaction -> NumberedColumns in
            let writer = OrderedMapWriter(
                transaction: transaction, keys: keys, catalog: catalog,
                maxIDLength: capabilities.maxIDLength)
            return try numbered(writer.prepare(capabilities), in: writer)
        }
    }

    private func numbered(
        _ columns: StoredColumns, in reading: some OrderedMapReading
    ) throws -> NumberedColumns {
        let count = try capabilities.isMultiProcess ? reading.number(StoreKey.columnChanges) : 0
        return NumberedColumns(columns: columns, changeCount: count)
    }
}

extension OrderedMapReading {
    /// Returns the map's columns if it has the current layout and the declared columns, or `nil` if it must be migrated.
    ///
    /// - Throws: ``StoreError`` when the map cannot be used with these tables.
    fileprivate func preparedColumns(_ capabilities: StoreCapabilities) throws -> StoredColumns? {
        guard try layoutVersion() == Layout.version else { return nil }
        var stored = StoredColumns()
        for table in catalog.tables {
            guard let known = try knownColumns(of: table.name),
                try columns(of: table, known: known, capabilities) == known, try hasParents(of: table)
            else { return nil }
            stored.add(table, known: known)
        }
        return stored
    }

    /// Returns the version of the layout, or `nil` for an empty map.
    fileprivate func layoutVersion() throws -> Int? {
        let version = try get(StoreKey.format) { value in
            var reader = ByteReader(value)
            return try reader.text() == Layout.name ? reader.varint() : nil
        }
        switch version {
        case .some(let version?) where version <= Layout.version:
            return version
        case .some(let version?):
            throw StoreError(
                .newerFormat,
                "The store has format \(version); this version supports up to \(Layout.version). Update the app."
            )
        case .some(nil):
            throw StoreError(.corrupt, "The map was not written by OrderedMapStore; use an empty one.")
        case nil:
            try map.scan(from: []) { _, _ in
                throw StoreError(
                    .corrupt, "The map is not empty and was not written by OrderedMapStore; use an empty one."
                )
            }
            return nil
        }
    }

    /// Whether the map has the parents that the table declares.
    fileprivate func hasParents(of table: SyncTableDefinition) throws -> Bool {
        try parents(of: table.name) == table.parents
    }

    fileprivate func storedTableNames() throws -> [String] {
        var names: [String] = []
        try scan(prefix: StoreKey.allColumns) { key, _ in
            var reader = ByteReader(key)
            names.append(try reader.text())
            return true
        }
        return names
    }

    fileprivate func parents(of table: String) throws -> [String] {
        let parents = try get(StoreKey.parents(of: table)) { value in
            var reader = ByteReader(value)
            var parents: [String] = []
            while !reader.isAtEnd { parents.append(try reader.text()) }
            return parents
        }
        return parents ?? []
    }

    /// Returns the columns to store: the stored ones, because items may still have their values, and the declared ones.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` when a column has changed its type.
    fileprivate func columns(
        of table: SyncTableDefinition, known: [KnownColumn], _ capabilities: StoreCapabilities
    ) throws -> [KnownColumn] {
        var columns = known
        for index in columns.indices { (columns[index].hasIndex, columns[index].isSynced) = (false, false) }
        for column in table.columns {
            let hasIndex = capabilities.usesIndexes && IndexedColumn(column) != nil
            guard let index = columns.firstIndex(where: { $0.name == column.name }) else {
                if let other = columns.first(where: { $0.name.lowercased() == column.name.lowercased() }) {
                    throw StoreError(
                        .schemaMismatch,
                        "The column '\(column.name)' of the table '\(table.name)' and the stored column '\(other.name)' differ "
                            + "in case only. Give the declared column the stored name, or another one.")
                }
                let type = column.type.rawValue
                columns.append(
                    KnownColumn(
                        name: column.name, type: type, hasIndex: hasIndex, isSynced: !column.isLocalOnly))
                continue
            }
            guard columns[index].type == column.type.rawValue else {
                throw StoreError(
                    .schemaMismatch,
                    "The column '\(column.name)' of the table '\(table.name)' is declared as .\(column.type), but the "
                        + "stored column is .\(columns[index].type). Give the declared column another name.")
            }
            columns[index].hasIndex = hasIndex
            columns[index].isSynced = !column.isLocalOnly
        }
        return columns
    }
}

extension OrderedMapStore {
    /// Returns the contents of a map that a store has written, without the app's table definitions.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when the map was not written by a store,
    ///   ``StoreError/Code/newerFormat``; ``StoreError/Code/unsupported`` for an older format.
    package static func contents(
        of map: any OrderedMapSnapshot, maxKeyLength: Int
    ) throws -> StoreContents {
        let keys = LongKeys(maxKeyLength: maxKeyLength)
        let unprepared = OrderedMapReader(map: map, keys: keys, catalog: try TableCatalog([]))
        guard let version = try unprepared.layoutVersion() else {
            throw StoreError(.corrupt, "The file is empty: it contains no store of a sync context.")
        }
        guard version == Layout.version else { throw StoreError.olderFormat(version) }
        let tables = try unprepared.storedTables()
        var stored = StoredColumns()
        for table in tables { stored.add(table.definition, known: table.columns) }
        let catalog = try TableCatalog(tables.map(\.definition))
        return StoreContents(
            formatVersion: version, catalog: catalog,
            snapshot: OrderedMapReader(map: map, keys: keys, catalog: catalog, storedColumns: stored))
    }
}

extension OrderedMapReader {
    /// Returns the tables as they were last declared, without local-only columns, in the order of their names, and all their
    /// stored columns.
    fileprivate func storedTables() throws -> [(definition: SyncTableDefinition, columns: [KnownColumn])] {
        try storedTableNames().sorted().map { name in
            let columns = try knownColumns(of: name) ?? []
            let definition = SyncTableDefinition(
                name, columns: columns.compactMap(\.syncedColumn), parents: try parents(of: name))
            return (definition, columns)
        }
    }
}

extension OrderedMapWriter {
    /// Stores the layout and the columns, creates missing indexes and removes undeclared ones.
    fileprivate func prepare(_ capabilities: StoreCapabilities) throws -> StoredColumns {
        let version = try layoutVersion()
        let isNew = version == nil
        let storesSyncedColumns = (version ?? 0) >= Layout.firstWithSyncedColumns
        let storedNames = try storedTableNames()
        var stored = StoredColumns()
        var format = ByteWriter()
        format.append(counted: Layout.name)
        format.append(varint: Layout.version)
        try put(format.array, for: StoreKey.format)
        for table in catalog.tables {
            let known = try knownColumns(of: table.name)
            if known == nil,
                let other = storedNames.first(where: { $0.lowercased() == table.name.lowercased() })
            {
                throw StoreError(
                    .schemaMismatch,
                    "The table '\(table.name)' and the stored table '\(other)' differ in case only. Give the declared table "
                        + "the stored name, or another one.")
            }
            let old = known ?? []
            let new = try columns(of: table, known: old, capabilities)
            stored.add(table, known: new)
            if try !hasParents(of: table) { try putParents(of: table) }
            // A table without columns is stored too: the list of tables is that of these keys.
            guard known != new || !(isNew || storesSyncedColumns) else { continue }
            try put(new.flatMap(\.bytes), for: StoreKey.columns(of: table.name))
            if capabilities.isMultiProcess { try changeNumber(StoreKey.columnChanges, by: 1) }
            let (indexed, toIndex) = (old.indexedNames, new.indexedNames)
            for column in indexed.subtracting(toIndex) { try removeIndex(of: column, in: table.name) }
            for column in toIndex.subtracting(indexed) {
                try createIndex(of: column, in: table)
            }
            // A table that is declared for the first time has nothing to migrate.
            if try isNew || old.isEmpty && !hasItems(in: table.name) { continue }
            let change = SyncedColumnsChange(
                to: table, from: storesSyncedColumns ? old.compactMap(\.syncedColumn) : nil)
            // The migration changes hidden values too.
            var migration = self
            migration.storedColumns.add(table, known: new, hidesColumns: false)
            try change.run(in: migration)
        }
        try writeNumbers()
        return stored
    }

    private func hasItems(in table: String) throws -> Bool {
        var hasItems = false
        try scan(prefix: StoreKey.items(of: table)) { _, _ in
            hasItems = true
            return false
        }
        return hasItems
    }

    private func putParents(of table: SyncTableDefinition) throws {
        let key = StoreKey.parents(of: table.name)
        guard !table.parents.isEmpty else { return try delete(key) }
        var parents = ByteWriter()
        for parent in table.parents { parents.append(counted: parent) }
        try put(parents.array, for: key)
    }

    private func createIndex(of name: String, in table: SyncTableDefinition) throws {
        guard let column = table.column(named: name).flatMap(IndexedColumn.init) else { return }
        let index = ColumnIndex(column, of: table.name)
        let layout = FieldLayout([name])
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try scan(prefix: StoreKey.items(of: table.name)) { id, bytes in
            let item = try Item(id: id.text(), bytes: bytes, keeping: layout)
            if let key = index.key(item) { entries.append((key, index.value(id: item.id))) }
            return true
        }
        for (key, value) in entries { try put(value, for: key) }
    }

    private func removeIndex(of name: String, in table: String) throws {
        let prefix = StoreKey.index(of: name, of: table)
        var keys: [[UInt8]] = []
        try scan(prefix: prefix) { key, _ in
            keys.append(prefix + Array(key))
            return true
        }
        for key in keys { try delete(key) }
    }
}
