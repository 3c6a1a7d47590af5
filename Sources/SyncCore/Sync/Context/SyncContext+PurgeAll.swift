// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Removes all data of a user from the store: the items of all tables, the operation queue, the error log and the delta
    /// tokens, and nothing on the server. Then binds the store to this context's user.
    ///
    /// Items of a table that the app does not declare now are removed when it declares the table again, before they are
    /// visible.
    ///
    /// All of it is one transaction. It also works while the store is bound to another user. End other pulls and pushes of
    /// the store first: a running pull requests its page again, and stores the rows after the purge.
    ///
    /// - Parameter pending: what to do with pending operations, of all tables. Those of another user cannot be pushed.
    /// - Throws: ``SyncError/Code/purgeRefused`` while operations are pending, or, when discarding, while one of them
    ///   is being sent or another process pushes; the errors of ``push(tables:budget:)``;
    ///   ``SyncError/Code/storeFailure``. Nothing is removed then.
    public func purgeAll(pending: PurgePolicy = .refuse) async throws {
        if pending == .push { try await push() }
        let (tables, inFlight, user) = (store.dataSource.tablesChildrenFirst, inFlight, user)
        try await withoutOtherPushes(if: pending == .discard) {
            try Task.checkCancellation()
            try await withStoreErrors {
                try await store.write { transaction in
                    try inFlight.takeBackMarks(in: transaction)
                    let operations = try transaction.operations(after: 0, in: nil, limit: .max)
                    guard pending == .discard || operations.isEmpty else {
                        throw SyncError(
                            .purgeRefused,
                            "\(operations.count) operation(s) are pending: push them, or discard them with the purge."
                        )
                    }
                    let sent = inFlight.all
                    guard !operations.contains(where: { sent.contains($0.id) }) else {
                        throw SyncError(
                            .purgeRefused, "An operation is being sent; purge again afterwards.",
                            mayRetry: true)
                    }
                    for operation in operations { try transaction.removeOperation(id: operation.id) }
                    for error in try transaction.operationErrors(in: nil) {
                        try transaction.removeOperationError(operationID: error.operationID)
                    }
                    for table in tables {
                        try transaction.deleteItems(matching: TableQuery(table.name))
                        try transaction.recordPurge(of: table.name)
                    }
                    try PurgeStamp.renew(tables.map(\.name), in: transaction)
                    try user.rebind(in: transaction)
                }
            }
        }
        unlistedRows.removeAll()
    }
}
