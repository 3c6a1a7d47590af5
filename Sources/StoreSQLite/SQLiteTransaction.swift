// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A snapshot or a transaction on one connection.
///
/// A snapshot's connection is read-only, so SQLite itself refuses writes.
struct SQLiteTransaction: StoreTransaction {
    let connection: Connection
    let schema: StoreSchema
    var decoded = DecodedOperations()
    /// `nil` unless other stores may open the file.
    var sharedColumns: SharedColumns?
    let lastID = LastOperationID()

    /// Caches the highest operation id of this transaction, because each new operation reads it.
    final class LastOperationID {
        var value: Int64?
    }
}

/// The declared tables and their statements.
struct StoreSchema: Sendable {
    let catalog: TableCatalog
    private let tables: [String: ItemTable]

    init(_ catalog: TableCatalog, tables: [ItemTable]) {
        self.catalog = catalog
        self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0.definition.name, $0) })
    }

    func table(named name: String) throws(SyncError) -> ItemTable {
        if let table = tables[name], table.definition.name.hasSameBytes(as: name) { return table }
        return ItemTable(try catalog.table(named: name), origin: .store)
    }
}
