// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// A recorded conflict shows that the server's row is gone, or another one than the operation was made on. Later attempts and
// decisions rely on it, so that it stays recorded until a write of the operation is answered, or the conflict is decided.

extension TableOperationError {
    /// Returns the error to record for an operation of which nothing was sent since the earlier error: after a conflict, the
    /// conflict with this error's message.
    func keeping(_ earlier: TableOperationError?) -> TableOperationError {
        guard let earlier, earlier.isConflict, !isConflict else { return self }
        return TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item,
            serverItem: earlier.serverItem, status: earlier.status, code: earlier.code, message: message,
            revision: revision)
    }

    /// Returns the conflict for the operation as it is now; `nil` if this is another error.
    func conflict(
        of operation: TableOperation, in snapshot: some StoreSnapshot, _ definition: SyncTableDefinition
    ) throws -> TableOperationError? {
        isConflict ? try updated(for: operation, in: snapshot, definition) : nil
    }
}
