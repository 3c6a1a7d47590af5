// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Removes rows of a table together with the rows that a foreign key of the app's database removes with them. The context
/// has not removed these: they have to be pulled again.
///
/// Only the row has the values of a pending insert or update. What becomes of one that a foreign key removes is decided by the
/// caller: a purge and a reconciliation are refused, and otherwise the operation keeps the item.
struct CascadedRemoval: Sendable {
    private let table: String
    /// The children, their children and so on; empty if the store is not in a database of the app.
    private let descendants: [String]
    private let mayCascade: Bool
    private let catalog: TableCatalog

    init(of table: String, in store: any SyncContextDataSource) {
        let catalog = store.catalog
        (self.table, self.catalog) = (table, catalog)
        let appStore = (store as? any StoreWithTriggers).flatMap { $0.isInAppDatabase ? $0 : nil }
        mayCascade = appStore != nil
        descendants = appStore.map { catalog.descendants(of: table, $0.references) } ?? []
    }

    /// The tables whose items a foreign key may remove.
    private var changedTables: [SyncTableDefinition] {
        ([table] + descendants).compactMap { try? catalog.table(named: $0) }
    }

    /// Removes rows, and the delta tokens of each child table that loses rows.
    ///
    /// - Parameters:
    ///   - tables: receives the child tables, if an automatic sync has to pull them.
    ///   - refusal: the code of the error if a foreign key would remove an item with a pending change; `nil` keeps the item with its
    ///     operation.
    ///   - remove: removes rows of the table, and returns how many.
    /// - Returns: whether a foreign key of the table to itself has removed further rows.
    func remove(
        in transaction: any StoreTransaction, tables: TablesToPull? = nil, refusal: SyncError.Code? = nil,
        _ remove: () throws -> Int
    ) throws -> Bool {
        guard mayCascade else {
            _ = try remove()
            return false
        }
        let countBefore = try transaction.itemCount(in: table)
        let descendantCounts = try descendants.map(transaction.itemCount)
        let removed = try keepingChanges(in: transaction, refusal: refusal, remove)
        for (child, count) in zip(descendants, descendantCounts)
        where try transaction.itemCount(in: child) != count {
            try transaction.recordRowToPull(in: child, tables)
        }
        return try transaction.itemCount(in: table) < countBefore - removed
    }

    /// Runs the body, which may remove items. A pending insert or update whose item is gone afterwards keeps the item.
    ///
    /// - Throws: an error with the code of the refusal, if there is one, instead of keeping the item.
    func keepingChanges<Result>(
        in transaction: any StoreTransaction, refusal: SyncError.Code? = nil, _ body: () throws -> Result
    ) throws -> Result {
        guard mayCascade else { return try body() }
        let changed = try changedTables.flatMap { table in
            try transaction.operations(after: 0, in: table.name, limit: .max).compactMap { operation in
                operation.kind == .delete
                    ? nil
                    : try transaction.readableItem(id: operation.itemID, in: table)
                        .map { Change(operationID: operation.id, item: $0, table: table) }
            }
        }
        let result = try body()
        for change in changed {
            // The body may also have removed the operation.
            guard var operation = try transaction.operation(id: change.operationID),
                try transaction.readableItem(id: operation.itemID, in: change.table) == nil
            else { continue }
            if let refusal {
                throw SyncError(
                    refusal,
                    "A foreign key would remove the item '\(operation.itemID)' of '\(operation.table)', whose "
                        + "\(operation.kind) is pending: push it, or discard it, first.")
            }
            operation.deletedItem = change.item
            try transaction.put(operation)
        }
        return result
    }

    /// A pending insert or update, and its item.
    private struct Change {
        let operationID: Int64
        let item: Item
        let table: SyncTableDefinition
    }

    /// Records that a row is stored again which the app had deleted: the rows that a foreign key has removed with it have to be
    /// pulled again.
    func recordRestoredRow(in transaction: any StoreTransaction, _ tables: TablesToPull?) throws {
        guard mayCascade else { return }
        for table in [table] + descendants { try transaction.recordRowToPull(in: table, tables) }
    }
}

extension StoreSnapshot {
    fileprivate func itemCount(in table: String) throws -> Int {
        try items(matching: TableQuery(table).limit(0).includingTotalCount()).totalCount ?? 0
    }
}
