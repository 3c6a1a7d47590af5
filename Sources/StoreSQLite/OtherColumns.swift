// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The columns of a table in a shared file, when another process has declared others than this store.
///
/// The processes that declare the stored columns send the changes that this store queues. Its operations and errors are
/// therefore stored with the rows that those processes would have stored.
struct OtherColumns: Sendable {
    /// The stored synced columns that this store does not sync.
    let undeclared: Set<String>
    /// The table with every column of the SQL table.
    let table: ItemTable
    private let change: SyncedColumnsChange

    init(of definition: SyncTableDefinition, on connection: Connection) throws {
        let own = definition.columns.filter { !$0.isLocalOnly }
        table = try ItemTable.ofAllColumns(definition.name, on: connection)
        change = SyncedColumnsChange(to: table.definition, from: own)
        undeclared = Set(
            table.definition.columns.filter { column in
                !column.isLocalOnly && !own.contains { $0.name == column.name && $0.type == column.type }
            }.map(\.name))
    }

    /// Returns the operation as it is stored.
    ///
    /// - Parameter item: the item that a new operation is made on, with all columns; `nil` if it is gone.
    func storedForm(of operation: TableOperation, isNew: Bool, madeOn item: Item?) -> TableOperation {
        var complete = operation
        if isNew {
            // Without the item, the row is unknown.
            complete.base = item.flatMap { item in operation.base.map { addingColumns(of: item, to: $0) } }
            complete.serverItem = operation.serverItem.map { row in
                item.map { addingColumns(of: $0, to: row) } ?? row
            }
        }
        return change.migrated(complete)
    }

    /// Returns the error as it is stored.
    func storedForm(of error: TableOperationError) -> TableOperationError { change.migrated(error) }

    /// Returns the server's row with the columns that the item has from it.
    private func addingColumns(of item: Item, to row: Item) -> Item {
        var complete = row
        for name in undeclared where row.system.undeclared[name] == nil {
            complete.content[name] = item.content[name]
        }
        return complete
    }
}

extension ItemTable {
    /// Returns the table with all columns of the SQL table. Those that are not synced count as local-only.
    static func ofAllColumns(_ name: String, on connection: Connection) throws -> ItemTable {
        let synced = try StoredDefinition.columns(of: name, on: connection)
        let columns = try AppTable.columns(of: name, on: connection)
        let known = Set(ItemColumns.all.map(\.name) + synced.map(\.name))
        // Another program may have added columns with names that no store declares.
        let others = columns.filter { !known.contains($0.name) && $0.name.isTableOrColumnName }.compactMap {
            column in
            ColumnType(sqlType: column.type).map { ColumnDefinition(column.name, $0, isLocalOnly: true) }
        }
        let definition = SyncTableDefinition(name, columns: synced + others)
        return ItemTable(definition, origin: .store, columns: columns.map(\.name))
    }
}
