// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension OrderedMapReading {
    func items(matching query: TableQuery) throws -> QueryResult { try StoredRows(self, query).result() }

    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        var query = query
        query.selection = columns
        return try StoredRows(self, query).forEachRow(columns: columns, body)
    }
}

/// The stored rows of one table, for one query.
private struct StoredRows<Reading: OrderedMapReading>: QueryableRows {
    let reading: Reading
    let query: TableQuery
    let filter: PreparedFilter
    /// The definition, with an indexed column only where the map has the index.
    let table: SyncTableDefinition
    let usesIndexes: Bool
    /// The fields to decode; `nil` for all.
    let layout: FieldLayout?
    let row: StoredRow

    init(_ reading: Reading, _ query: TableQuery) throws {
        self.reading = reading
        self.query = query
        filter = PreparedFilter(query.filter)
        let definition = try reading.catalog.table(named: query.table)
        let stored = reading.storedColumns[query.table]
        table = stored?.definition ?? definition
        usesIndexes = stored != nil
        row = StoredRow(of: filter)
        layout = query.neededFields.map { FieldLayout($0.sorted()) } ?? stored?.layout
    }

    func forEachRow(from id: String?, _ body: (StoredRow) throws -> Bool) throws {
        let start = id.map { StoreKey.item($0, of: table.name) }
        try reading.scan(prefix: StoreKey.items(of: table.name), from: start) { id, bytes in
            try row.move(toID: id, bytes: bytes)
            return try body(row)
        }
    }

    func withRow(id: String, _ body: (StoredRow) throws -> Bool) throws -> Bool? {
        let key = StoreKey.item(id, of: table.name)
        var id = id
        return try id.withUTF8 { id in
            try reading.get(key) {
                try row.move(toID: UnsafeRawBufferPointer(id), bytes: $0)
                return try body(row)
            }
        }
    }

    func forEachID(
        in range: IndexRange, of column: IndexedColumn, _ body: (String) throws -> Bool
    ) throws {
        let index = ColumnIndex(column, of: table.name)
        try reading.scan(prefix: index.prefix, from: index.prefix + range.lower) { key, value in
            guard range.endsAfter(key) else { return false }
            return try body(index.id(key: key, value: value))
        }
    }

    func item(_ row: StoredRow) throws -> Item { try row.item(keeping: layout) }
}

extension TableQuery {
    /// The fields that must be decoded to sort and return a match, or `nil` for all of them.
    fileprivate var neededFields: Set<String>? {
        if limit != 0, selection.isEmpty { return nil }
        return orderings.reduce(into: limit == 0 ? [] : Set(selection)) {
            $0.formUnion($1.expression.columns)
        }
    }
}
