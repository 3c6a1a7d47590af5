// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// What a purge does about pending operations of its table.
    public enum PurgePolicy: Sendable, Hashable {
        /// Pushes them first, and refuses if some remain.
        case push
        /// Refuses while there are any.
        case refuse
        /// Drops those of the purged items with their errors. Changes that were not pushed are lost.
        case discard
    }

    /// Removes local items that match the query, without telling the server.
    ///
    /// By default the table's delta tokens go too, so that a pull brings the rows back. All of it is one
    /// transaction.
    ///
    /// - Parameters:
    ///   - query: which items to remove.
    ///   - pending: what to do about pending operations of the table.
    ///   - keepingDeltaTokens: whether later incremental pulls go on from where they were, so that purged rows come
    ///     back only when they change.
    /// - Throws: ``SyncError/Code/purgeRefused`` while operations are pending, or, when discarding, while one of them
    ///   is being sent, or another process pushes; the errors of ``push(tables:budget:)``; ``SyncError/Code/filterNotSupported``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is removed then.
    public func purge(
        _ query: TableQuery, pending: PurgePolicy = .push, keepingDeltaTokens: Bool = false
    ) async throws {
        try validate(query, on: query.table)
        if pending == .push { try await push(tables: [query.table]) }
        let lock = try await pending == .discard ? lockForDiscarding() : nil
        defer { lock?.release() }
        let inFlight = inFlight
        try await write { transaction in
            let purge = Purge(transaction: transaction, query: query, inFlight: inFlight.all)
            if pending == .discard { try purge.discardOperations() } else { try purge.requireNoOperations() }
            try transaction.deleteItems(matching: query)
            if !keepingDeltaTokens { try purge.forgetDeltaTokens() }
        }
    }
}

/// The parts of a purge, inside its transaction.
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

    /// Drops the operations of the items that go; those of deleted items too when the whole table goes.
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
        for operation in discarded {
            try transaction.removeOperation(id: operation.id)
            try transaction.removeOperationError(operationID: operation.id)
        }
    }

    func forgetDeltaTokens() throws {
        for (key, _) in try transaction.configValues(in: query.table, kind: .deltaToken) {
            try transaction.setConfigValue(nil, for: key)
        }
    }
}
