// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// What a purge does with pending operations.
    public enum PurgePolicy: Sendable, Hashable {
        /// Pushes them first, and refuses to purge if some remain.
        case push
        /// Refuses to purge while there are any.
        case refuse
        /// Removes those of the purged items with their errors. Changes that were not pushed are lost.
        case discard
    }

    /// Removes local items that match the query, and nothing on the server, in one transaction.
    ///
    /// By default the table's delta tokens are removed too, so that the next pull stores the rows again.
    ///
    /// - Parameters:
    ///   - query: which items to remove.
    ///   - pending: what to do with pending operations of the table.
    ///   - keepingDeltaTokens: whether incremental pulls continue from their delta tokens, so that purged rows are
    ///     pulled again only when they change. They do not continue if a foreign key has removed further rows of the table.
    /// - Throws: ``SyncError/Code/purgeRefused`` while operations are pending, also of items that a foreign key would remove, or,
    ///   when discarding, while one of them is being sent, or another process pushes; the errors of ``push(tables:budget:)``; ``SyncError/Code/filterNotSupported``,
    ///   ``SyncError/Code/invalidParameter``, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is removed then.
    public func purge(
        _ query: TableQuery, pending: PurgePolicy = .push, keepingDeltaTokens: Bool = false
    ) async throws {
        try validate(query, on: query.table)
        if pending == .push { try await push(tables: [query.table]) }
        let inFlight = inFlight
        let removal = CascadedRemoval(of: query.table, in: store.dataSource)
        try await withoutOtherPushes(if: pending == .discard) {
            try Task.checkCancellation()
            try await write { transaction in
                let purge = Purge(transaction: transaction, query: query, inFlight: inFlight.all)
                if pending == .discard {
                    try purge.discardOperations()
                } else {
                    try purge.requireNoOperations()
                }
                let refusal = pending == .discard ? nil : SyncError.Code.purgeRefused
                let removedFurtherRows = try removal.remove(in: transaction, refusal: refusal) {
                    try transaction.deleteItems(matching: query)
                }
                try transaction.recordPurge(of: query.table) { _ in removedFurtherRows || !keepingDeltaTokens
                }
            }
        }
    }
}

/// The steps of a purge, inside its transaction.
private struct Purge {
    let transaction: any StoreTransaction
    let query: TableQuery
    let inFlight: Set<Int64>

    func requireNoOperations() throws {
        let count = try transaction.operationCount(in: query.table)
        guard count == 0 else {
            throw SyncError(
                .purgeRefused,
                "'\(query.table)' has \(count) pending operation(s): push them, or discard them with the purge."
            )
        }
    }

    /// Removes the operations of the purged items; of a whole table also those of items that were deleted before.
    func discardOperations() throws {
        let isWhole = query.filter == nil && query.offset == 0 && query.limit == nil
        let purged = isWhole ? [] : Set(try transaction.items(matching: query).items.map { UTF8Text($0.id) })
        let discarded = try transaction.operations(after: 0, in: query.table, limit: .max).filter {
            isWhole || purged.contains(UTF8Text($0.itemID))
        }
        guard !discarded.contains(where: { inFlight.contains($0.id) }) else {
            throw SyncError(
                .purgeRefused, "An operation of '\(query.table)' is being sent; purge again afterwards.",
                mayRetry: true)
        }
        for operation in discarded { try transaction.removeOperationAndError(id: operation.id) }
    }
}
