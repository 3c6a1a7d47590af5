// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An app's own database can remove an item that has a pending change: by a foreign key, by a trigger, or by the app's own code,
// which queues the deletion later. The change stays pending with an error until it has become a delete or is discarded.

extension TableOperation {
    /// Whether this is an insert or update whose item is missing, and no later operation deletes it.
    func lacksItem(_ item: Item?, in snapshot: any StoreSnapshot) throws -> Bool {
        guard item == nil, kind != .delete else { return false }
        return try snapshot.operation(behind: self)?.kind != .delete
    }
}

extension AttemptCompletion {
    /// Records that the operation's item is missing. A recorded conflict stays, which shows the server's row.
    ///
    /// - Returns: the operation's error; `nil` if it no longer exists.
    func recordMissingItem() throws -> TableOperationError? {
        try mergeBehind()
        guard let operation = try transaction.operation(id: operationID) else { return nil }
        let recorded = try transaction.operationError(operationID: operationID)
        let conflict = try recorded?.conflict(of: operation, in: transaction, definition)
        let error = conflict ?? .missingItem(operation)
        if error != recorded { try transaction.put(error) }
        return error
    }
}

extension TableOperationError {
    fileprivate static func missingItem(_ operation: TableOperation) -> TableOperationError {
        TableOperationError(
            operation, item: operation.deletedItem, code: .expectedItem,
            message: """
                The item '\(operation.itemID)' with a pending \(operation.kind) is no longer in '\(operation.table)': a foreign \
                key, a trigger or the app has removed it there. Queue its deletion, change the operation to a delete, discard it, or \
                pass an item to send.
                """)
    }
}
