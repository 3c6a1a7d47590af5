// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The rows of one table, for one query.
struct MemoryRows: QueryableRows {
    private let items: MemoryTable
    let query: TableQuery
    let filter: PreparedFilter

    init(_ items: MemoryTable, _ query: TableQuery) {
        self.items = items
        self.query = query
        filter = PreparedFilter(query.filter)
    }

    var table: SyncTableDefinition { items.table }
    var usesIndexes: Bool { true }

    func forEachRow(from id: String?, _ body: (MemoryRow) throws -> Bool) throws {
        try items.forEachEntry(from: id) { try body(MemoryRow(entry: $0)) }
    }

    func withRow(id: String, _ body: (MemoryRow) throws -> Bool) throws -> Bool? {
        try items.entry(id: id).map { try body(MemoryRow(entry: $0)) }
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

    var item: Item { entry.value }

    subscript(name: String) -> ItemValue? { entry.value[name] }

    func truth(of condition: ColumnCondition) -> Bool? { condition.truth(for: entry.value.content) }

    func read(_ columns: ColumnPositions, into values: inout RowValues) {
        values.read(entry.value, columns)
    }
}
