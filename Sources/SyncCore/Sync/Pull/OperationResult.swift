// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Records the row or item that an operation ends with, so that no page requested before replaces it, of this process or
    /// of another.
    ///
    /// - Parameter row: `nil` or a tombstone when the item is removed.
    func recordResult(
        _ row: Item?, of operation: TableOperation, in transaction: any StoreTransaction
    ) throws {
        let (id, table) = (operation.itemID, operation.table)
        stalePageGuard.recordStored(row, id: id, in: table, from: StalePageGuard.pushes)
        guard isStoreShared, row?.system.deleted ?? true else { return }
        try SharedStorePull.recordRemoval(
            of: row ?? operation.newestServerItem, id: id, table: table, at: environment.now(),
            in: transaction)
    }
}
