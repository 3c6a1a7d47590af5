// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The name of the layout that ``StoreKey`` describes, and its version.
private enum Layout {
    static let name = "swift-sync-context"
    static let version = 1
}

/// A column as the map knows it.
private struct KnownColumn: Equatable {
    let name: String
    let type: String
    var hasIndex: Bool
}

extension OrderedMapReading {
    /// Whether the map has the layout, and knows the columns as they are declared.
    ///
    /// - Throws: ``StoreError`` when the map cannot be used with these tables.
    func isPrepared() throws -> Bool {
        guard try hasLayout() else { return false }
        return try catalog.tables.allSatisfy { table in
            let known = try knownColumns(of: table.name)
            return try columns(of: table, known: known) == known
        }
    }

    private func hasLayout() throws -> Bool {
        let version = try get(StoreKey.format) { value in
            var reader = ByteReader(value)
            return try reader.text() == Layout.name ? reader.varint() : nil
        }
        switch version {
        case .some(let version?) where version <= Layout.version:
            return true
        case .some(let version?):
            throw StoreError(
                .newerFormat,
                "The store has format \(version); this version reads up to \(Layout.version).")
        case .some(nil):
            throw StoreError(.corrupt, "The map was not written by this framework.")
        case nil:
            try map.scan(from: []) { _, _ in
                throw StoreError(.corrupt, "The map is not empty and was not written by this framework.")
            }
            return false
        }
    }

    fileprivate func knownColumns(of table: String) throws -> [KnownColumn] {
        let columns = try get(StoreKey.columns(of: table)) { value in
            var reader = ByteReader(value)
            var columns: [KnownColumn] = []
            while !reader.isAtEnd {
                let (name, type, index) = (try reader.text(), try reader.text(), try reader.byte())
                columns.append(KnownColumn(name: name, type: type, hasIndex: index != 0))
            }
            return columns
        }
        return columns ?? []
    }

    /// The columns that the map is to know: those it knows, since items may still have them, and those declared.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` when a column has changed its type.
    fileprivate func columns(of table: TableDefinition, known: [KnownColumn]) throws -> [KnownColumn] {
        var columns = known
        for index in columns.indices { columns[index].hasIndex = false }
        for column in table.columns {
            let hasIndex = usesIndexes && ColumnIndex(column, of: table.name) != nil
            guard let place = columns.firstIndex(where: { $0.name == column.name }) else {
                let type = column.type.rawValue
                columns.append(KnownColumn(name: column.name, type: type, hasIndex: hasIndex))
                continue
            }
            guard columns[place].type == column.type.rawValue else {
                throw StoreError(
                    .schemaMismatch,
                    "The column '\(column.name)' of '\(table.name)' is declared as \(column.type.rawValue) "
                        + "and stored as \(columns[place].type); give the column another name.")
            }
            columns[place].hasIndex = hasIndex
        }
        return columns
    }
}

extension OrderedMapWriter {
    /// Writes the layout and the columns down, makes the indexes that are missing, and removes those not wanted.
    func prepare() throws {
        var format = ByteWriter()
        format.append(counted: Layout.name)
        format.append(varint: Layout.version)
        try put(format.array, for: StoreKey.format)
        for table in catalog.tables {
            let old = try knownColumns(of: table.name)
            let new = try columns(of: table, known: old)
            guard old != new else { continue }
            try put(new.flatMap(\.bytes), for: StoreKey.columns(of: table.name))
            for column in old where column.hasIndex && !new.contains(column) {
                try removeIndex(of: column.name, in: table.name)
            }
            for column in new where column.hasIndex && !old.contains(column) {
                try makeIndex(of: column.name, in: table)
            }
        }
    }

    private func makeIndex(of name: String, in table: TableDefinition) throws {
        guard let index = table.column(named: name).flatMap({ ColumnIndex($0, of: table.name) }) else {
            return
        }
        let names = FieldNames([name])
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try scan(prefix: StoreKey.items(of: table.name)) { id, bytes in
            let item = try Item(id: id.text(), bytes: bytes, keeping: names)
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

extension KnownColumn {
    fileprivate var bytes: [UInt8] {
        var bytes = ByteWriter()
        bytes.append(counted: name)
        bytes.append(counted: type)
        bytes.append(hasIndex ? 1 : 0)
        return bytes.array
    }
}
