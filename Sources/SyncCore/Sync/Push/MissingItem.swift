// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An app's own database can remove an item that has a pending change: by a foreign key, by a trigger, or by the app's own code,
// which queues the deletion later. The change stays pending with an error until it has become a delete or is discarded.

extension AttemptCompletion {
    /// Whether the item of an insert or update is missing, and no later operation deletes it.
    func isMissingItem(_ item: Item?, of operation: TableOperation) throws -> Bool {
        guard item == nil, operation.kind != .delete else { return false }
        return try transaction.operation(behind: operation)?.kind != .delete
    }
}

extension SyncError {
    static func missingItem(of operation: TableOperation) -> SyncError {
        SyncError(
            .expectedItem,
            """
            The item '\(operation.itemID)' with a pending \(operation.kind) is no longer in '\(operation.table)': a foreign key, a \
            trigger or the app has removed it there. Queue its deletion, change the operation to a delete, or discard it.
            """)
    }
}
