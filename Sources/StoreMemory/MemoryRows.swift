// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The rows of one table, for one query.
struct MemoryRows: QueryableRows {
    private let items: MemoryTable
    let query: TableQuery
    let filter: PreparedFilter
    private let places: ItemRow.FieldPlaces

    init(_ items: MemoryTable, _ query: TableQuery) {
        self.items = items
        self.query = query
        filter = PreparedFilter(query.filter)
        places = ItemRow.FieldPlaces(of: filter)
    }

    var table: SyncTableDefinition { items.table }
    var usesIndexes: Bool { true }

    func forEachRow(from id: String?, _ body: (ItemRow) throws -> Bool) throws {
        try items.forEachItem(from: id) { try body(ItemRow($0, places: places)) }
    }

    func withRow(id: String, _ body: (ItemRow) throws -> Bool) throws -> Bool? {
        try items.item(id: id).map { try body(ItemRow($0, places: places)) }
    }

    func forEachID(
        in range: IndexRange, of column: IndexedColumn, _ body: (String) throws -> Bool
    ) throws {
        try items.forEachID(in: range, of: column, body)
    }

    func item(_ row: ItemRow) -> Item { row.item }
}
