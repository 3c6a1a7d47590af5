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
    private let definition: SyncTableDefinition
    /// Every column of the SQL table; those that are not synced count as local-only.
    private let all: ItemTable
    private let change: SyncedColumnsChange

    init(of definition: SyncTableDefinition, on connection: Connection) throws {
        let stored = try StoredDefinition.columns(of: definition.name, on: connection)
        let columns = try AppTable.columns(of: definition.name, on: connection)
        let names = Set(ItemColumns.all.map(\.name) + stored.map(\.name))
        let others = columns.filter { !names.contains($0.name) }.compactMap { column in
            ColumnType(sqlType: column.type).map { ColumnDefinition(column.name, $0, isLocalOnly: true) }
        }
        let table = SyncTableDefinition(definition.name, columns: stored + others)
        self.definition = definition
        all = ItemTable(table, origin: .store, columns: columns.map(\.name))
        let own = definition.columns.filter { !$0.isLocalOnly }
        change = SyncedColumnsChange(to: table, from: own)
        undeclared = Set(
            stored.filter { column in !own.contains { $0.name == column.name && $0.type == column.type } }
                .map(\.name))
    }

    /// Returns the operation as it is stored.
    ///
    /// - Parameters:
    ///   - stored: the operation as it was stored before, if it is not new.
    ///   - connection: reads the item, which a change has not reached yet.
    func storedForm(
        of operation: TableOperation, replacing stored: TableOperation?, on connection: Connection
    ) throws -> TableOperation {
        var complete = operation
        let item = try item(operation.itemID, on: connection)
        if stored == nil, let base = operation.base {
            complete.base = item.map { addingColumns(of: $0, to: base) }
        }
        if stored?.deletedItem == nil, var deleted = operation.deletedItem, let item {
            item.content.forEach { name, value in
                if definition.column(named: name) == nil { deleted.content[name] = value }
            }
            complete.deletedItem = deleted
        }
        return change.migrated(complete)
    }

    /// Returns the error as it is stored.
    func storedForm(of error: TableOperationError) -> TableOperationError { change.migrated(error) }

    /// Returns the server's row with the columns that the item has from it.
    private func addingColumns(of item: Item, to row: Item) -> Item {
        var complete = row
        for name in undeclared where row.system.undeclared[name] == nil {
            complete.content[name] = item.content[name] ?? .null
        }
        return complete
    }

    private func item(_ id: String, on connection: Connection) throws -> Item? {
        let statement = try connection.cached(all.find)
        try statement.bind(id, at: 1)
        return try statement.firstRow { try $0.item(of: all, columns: all.columns) }
    }
}

extension SQLiteTransaction {
    /// Returns the operation as it is stored in a shared file.
    func storedForm(of operation: TableOperation) throws -> TableOperation {
        guard let sharedColumns else { return operation }
        let others = sharedColumns.otherColumns(of: operation.table)
        guard others != nil || operation.deletedItem != nil else { return operation }
        let stored = try storedOperation(id: operation.id)
        var changed = operation
        changed.deletedItem = operation.deletedItem.map { item in
            var complete = item
            stored?.deletedItem?.content.forEach { name, value in
                if !declares(name, in: operation.table) { complete.content[name] = value }
            }
            return complete
        }
        return try others?.storedForm(of: changed, replacing: stored, on: connection) ?? changed
    }

    /// Returns the error as it is stored in a shared file.
    func storedForm(of error: TableOperationError) -> TableOperationError {
        sharedColumns?.otherColumns(of: error.table)?.storedForm(of: error) ?? error
    }

    /// Returns a stored local item without columns that only other processes declare.
    func readable(_ item: Item?, in table: String) -> Item? {
        guard sharedColumns != nil, var item else { return item }
        item.content.forEach { name, _ in
            if !declares(name, in: table) { item.content[name] = nil }
        }
        return item
    }

    private func declares(_ column: String, in table: String) -> Bool {
        guard let table = try? schema.catalog.table(named: table) else { return true }
        return table.column(named: column) != nil
    }
}
