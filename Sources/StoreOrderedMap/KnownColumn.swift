// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A column as the map stores it.
struct KnownColumn: Equatable {
    let name: String
    let type: String
    var hasIndex: Bool
    /// Whether the column was synced when the map was last opened.
    var isSynced: Bool
}

extension KnownColumn {
    private static let indexFlag: UInt8 = 1
    private static let syncedFlag: UInt8 = 2

    /// The column's definition as far as the map knows it; `nil` if it is not synced.
    var syncedColumn: SyncColumn? {
        isSynced ? ColumnType(rawValue: type).map { SyncColumn(name, $0) } : nil
    }

    /// The column's index in the map; `nil` if it has none.
    var index: IndexedColumn? {
        guard hasIndex, let type = ColumnType(rawValue: type) else { return nil }
        return IndexedColumn(SyncColumn(name, type, isIndexed: true))
    }

    /// The stored form; ``list(in:)`` decodes it.
    var bytes: [UInt8] {
        var bytes = ByteWriter()
        bytes.append(counted: name)
        bytes.append(counted: type)
        bytes.append((hasIndex ? Self.indexFlag : 0) | (isSynced ? Self.syncedFlag : 0))
        return bytes.array
    }

    /// Decodes the columns of a table.
    static func list(in bytes: UnsafeRawBufferPointer) throws -> [KnownColumn] {
        var reader = ByteReader(bytes)
        var columns: [KnownColumn] = []
        while !reader.isAtEnd {
            let (name, type, flags) = (try reader.text(), try reader.text(), try reader.byte())
            columns.append(
                KnownColumn(
                    name: name, type: type, hasIndex: flags & Self.indexFlag != 0,
                    isSynced: flags & Self.syncedFlag != 0))
        }
        return columns
    }
}

extension [KnownColumn] {
    var indexedNames: Set<String> { Set(lazy.filter(\.hasIndex).map(\.name)) }
}

extension OrderedMapReading {
    /// Returns every column of the table that was ever declared; `nil` if the table never was.
    func knownColumns(of table: String) throws -> [KnownColumn]? {
        try get(StoreKey.columns(of: table)) { try KnownColumn.list(in: $0) }
    }

    /// Returns the columns and indexes that the map has for the declared tables.
    func readStoredColumns() throws -> StoredColumns {
        var stored = StoredColumns()
        for table in catalog.tables { stored.add(table, known: try knownColumns(of: table.name) ?? []) }
        return stored
    }
}
