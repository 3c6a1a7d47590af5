// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

// The processes of a shared file may declare different columns. What one of them stores is complete for the others: an update
// keeps the columns that it does not declare, an operation has the form that the processes with the stored columns read, and the
// item of a deletion has all columns.

extension SQLiteTransaction {
    /// Returns the operation as it is stored.
    func storedForm(of operation: TableOperation) throws -> TableOperation {
        guard let sharedColumns else { return operation }
        let others = sharedColumns.otherColumns(of: operation.table)
        if others == nil {
            guard operation.deletedItem != nil, let table = try? schema.table(named: operation.table) else {
                return operation
            }
            try table.updateHiddenColumns(on: connection)
            guard !table.hiddenColumns.isEmpty else { return operation }
        }
        let item = try completeItem(
            operation.itemID, in: others?.table ?? .ofAllColumns(operation.table, on: connection))
        var complete = operation
        if var deleted = operation.deletedItem {
            item?.content.forEach { name, value in
                if !declares(name, in: operation.table) { deleted.content[name] = value }
            }
            complete.deletedItem = deleted
        }
        guard let others else { return complete }
        let isNew = try storedOperation(id: operation.id) == nil
        return others.storedForm(of: complete, isNew: isNew, madeOn: item)
    }

    /// Returns the error as it is stored.
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

    /// Returns the item with all columns of its table: as it is stored or, if it is deleted, as an operation has kept it.
    private func completeItem(_ id: String, in table: ItemTable) throws -> Item? {
        try find(table.find, id: id) { try $0.item(of: table, columns: table.columns) }
            ?? storedOperations(forItem: id, in: table.definition.name).lazy.compactMap(\.deletedItem).first
    }

    private func declares(_ column: String, in table: String) -> Bool {
        guard let table = try? schema.catalog.table(named: table) else { return true }
        return table.column(named: column) != nil
    }
}
