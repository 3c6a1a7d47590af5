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
        try recordResult(
            row, id: operation.itemID, in: operation.table, newest: operation.newestServerItem, transaction)
    }

    /// Records the row or item, as ``recordResult(_:of:in:)`` does.
    ///
    /// - Parameter newest: the newest state of the row that the device has received.
    func recordResult(
        _ row: Item?, id: String, in table: String, newest: Item?, _ transaction: any StoreTransaction
    ) throws {
        stalePageGuard.recordStored(row, id: id, in: table, from: StalePageGuard.pushes)
        guard isStoreShared, row?.system.deleted ?? true else { return }
        try SharedStorePull.recordRemoval(
            of: row ?? newest, id: id, table: table, at: environment.now(), in: transaction)
    }

    /// Records the item that is left after a decision has removed its operation, as ``recordResult(_:of:in:)`` does.
    ///
    /// - Returns: the item; `nil` when it was removed.
    func recordItem(of operation: TableOperation, in transaction: any StoreTransaction) throws -> Item? {
        let item = try transaction.item(id: operation.itemID, in: operation.table)
        try recordResult(item, of: operation, in: transaction)
        return item
    }
}
