// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The name of the layout that ``StoreKey`` describes, and its version.
private enum Layout {
    static let name = "swift-sync-context"
    static let version = 1
}

extension OrderedMapReading {
    /// Whether the map has the layout and knows all declared columns.
    ///
    /// - Throws: ``StoreError`` when the map cannot be used with these tables.
    func isPrepared() throws -> Bool {
        guard try hasLayout() else { return false }
        return try catalog.tables.allSatisfy { try newColumns(of: $0).isEmpty }
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

    /// The declared columns that the map has not seen yet.
    fileprivate func newColumns(of table: TableDefinition) throws -> [Column] {
        let known = Dictionary(try columns(of: table.name), uniquingKeysWith: { _, last in last })
        return try table.columns.filter { column in
            guard let type = known[column.name] else { return true }
            guard type == column.type.rawValue else {
                throw StoreError(
                    .schemaMismatch,
                    "The column '\(column.name)' of '\(table.name)' is declared as \(column.type.rawValue) "
                        + "and stored as \(type); give the column another name.")
            }
            return false
        }
    }

    /// Name and type of every column ever declared.
    fileprivate func columns(of table: String) throws -> [(name: String, type: String)] {
        let columns = try get(StoreKey.columns(of: table)) { value in
            var reader = ByteReader(value)
            var columns: [(name: String, type: String)] = []
            while !reader.isAtEnd { columns.append((try reader.text(), try reader.text())) }
            return columns
        }
        return columns ?? []
    }
}

extension OrderedMapWriter {
    /// Writes down the layout and the columns not seen before. Columns no longer declared stay known, because items may
    /// still have them.
    func prepare() throws {
        var format: [UInt8] = []
        format.append(counted: Layout.name.utf8)
        format.append(varint: Layout.version)
        try put(format, for: StoreKey.format)
        for table in catalog.tables {
            var bytes: [UInt8] = []
            let added = try newColumns(of: table).map { ($0.name, $0.type.rawValue) }
            for (name, type) in try columns(of: table.name) + added {
                bytes.append(counted: name.utf8)
                bytes.append(counted: type.utf8)
            }
            if !added.isEmpty { try put(bytes, for: StoreKey.columns(of: table.name)) }
        }
    }
}
