// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What status 409 means for an insert: the server already has a row with the item's id.
///
/// 1. If the row is what an earlier attempt of this insert left, the insert is complete: ``LostAnswerProof``. The row is
///    fetched when the response does not have it.
/// 2. If the app enqueued an existing item (``TableOperation/isAdopted``), the operation becomes an update of the row, which
///    has a version.
/// 3. If the row is a tombstone, and the insert follows this client's own delete (``TableOperation/replaces``), it becomes an
///    update that replaces the row.
/// 4. Otherwise the insert fails with ``SyncError/Code/itemAlreadyOnServer``, a conflict: a resolver, the delegate or the
///    app resolves it. Keeping the client's item updates the row, and undeletes it first if it is a tombstone.
enum InsertConflict {
    /// Returns the code of the operation's error.
    static func code(for kind: TableOperation.Kind) -> SyncError.Code {
        // Some servers answer 409 to updates and deletes too, where it means another version of the row.
        kind == .insert ? .itemAlreadyOnServer : .preconditionFailed
    }

    /// Returns the decision about a conflict that needs no resolver; `nil` for all other conflicts.
    ///
    /// - Parameter row: the server's row, if it has one.
    static func decision(for operation: TableOperation, row: Item?) -> ConflictDecision? {
        if operation.kind == .insert, operation.replaces, row?.system.deleted == true { return .keepClient }
        guard operation.isAdopted else { return nil }
        // In a table without versions, the item can be an older state of the row, which a pull has stored.
        if operation.kind == .insert, let row, row.system.version == nil { return nil }
        // An update of a row that the server does not have after all becomes an insert again.
        return operation.kind == .insert || operation.isUnconfirmed && row == nil ? .keepClient : nil
    }
}
