// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The rows of one table, for one query.
struct MemoryRows: QueryableRows {
    private let items: MemoryTable
    let query: TableQuery
    let filter: PreparedFilter
    /// Finds the columns of the filter.
    private let columns: ColumnPositions

    init(_ items: MemoryTable, _ query: TableQuery) {
        self.items = items
        self.query = query
        filter = PreparedFilter(query.filter)
        columns = ColumnPositions(of: filter.columns)
    }

    var table: SyncTableDefinition { items.table }
    var usesIndexes: Bool { true }

    func forEachRow(from id: String?, _ body: (MemoryRow) throws -> Bool) throws {
        try items.forEachEntry(from: id) { try body(MemoryRow(entry: $0, columns: columns)) }
    }

    func withRow(id: String, _ body: (MemoryRow) throws -> Bool) throws -> Bool? {
        try items.entry(id: id).map { try body(MemoryRow(entry: $0, columns: columns)) }
    }

    func forEachID(
        in range: IndexRange, of column: IndexedColumn, _ body: (String) throws -> Bool
    ) throws {
        try items.forEachID(in: range, of: column, body)
    }

    func item(_ row: MemoryRow) -> Item { row.item }
}

/// An item as its table shares it with snapshots: not a copy, which would touch the memory of all its parts.
struct MemoryRow: ScannedRow {
    fileprivate let entry: MemoryTable.Entry
    fileprivate let columns: ColumnPositions

    var item: Item { entry.value }

    subscript(name: String) -> ItemValue? { entry.value[name] }

    func truth(of condition: ColumnCondition) -> Bool? {
        condition.truth(for: columns.value(condition.position, of: entry.value))
    }

    func read(_ columns: ColumnPositions, into values: inout RowValues) {
        values.read(entry.value, columns)
    }
}
