// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Queues items that are in the store already as inserts: rows that were in the database before it was synced.
    ///
    /// An insert of a row that the server turns out to have becomes an update of it, with this device's fields. Items
    /// that have a version or a pending operation are left alone.
    ///
    /// - Parameter query: which items; all of them for the table's bare query.
    /// - Returns: how many operations were queued, in one transaction.
    /// - Throws: ``SyncError/Code/filterNotSupported``, ``SyncError/Code/invalidItemID`` for a row whose id cannot be
    ///   sent, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    @discardableResult
    public func enqueueExisting(_ query: TableQuery) async throws -> Int {
        try validate(query, on: query.table)
        let now = environment.now()
        return try await write { transaction in
            let unknown = try transaction.items(matching: query).items.filter { item in
                try item.system.version == nil
                    && transaction.operations(forItem: item.id, in: query.table).isEmpty
            }
            for item in unknown {
                try ItemID.validate(item.id)
                try transaction.put(
                    TableOperation(
                        id: try transaction.lastOperationID() + 1, table: query.table, itemID: item.id,
                        kind: .insert, isAdopted: true, changedAt: now))
            }
            return unknown.count
        }
    }

    /// Queues changes that the app has made to its own database without the context.
    ///
    /// The rows are as the app left them; what they were before is unknown, so updates send whole items, on the
    /// version that the row still has. All of it is one transaction. Where the store can join the app's own transaction,
    /// that is better: a crash between the two would leave a change that is never sent.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - changed: the ids of rows that were added or changed.
    ///   - deleted: the rows that were deleted, as they were.
    /// - Throws: ``SyncError/Code/itemNotFound`` for a changed row that is not there,
    ///   ``SyncError/Code/invalidOperation`` for a deleted one that is; ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    public func enqueueExternalChanges(
        in table: String, changed: [String] = [], deleted: [Item] = []
    ) async throws {
        let definition = try definition(of: table)
        let (inFlight, isShared, now) = (inFlight, isStoreShared, environment.now())
        try await write { transaction in
            try transaction.enqueueExternalChanges(
                in: definition, changed: changed, deleted: deleted, inFlight: isShared ? nil : inFlight.all,
                at: now)
        }
    }
}

extension StoreTransaction {
    /// Queues changes that are in the tables already, by the rules of local writes.
    ///
    /// - Parameter inFlight: the operations that are being sent; `nil` when that is not known. An attempt whose outcome
    ///   is unknown may then be one, and changes wait behind it.
    /// - Throws: as ``SyncContext/enqueueExternalChanges(in:changed:deleted:)``.
    package func enqueueExternalChanges(
        in definition: SyncTableDefinition, changed: [String], deleted: [Item], inFlight: Set<Int64>?,
        at now: Timestamp
    ) throws {
        func write(_ id: String) throws -> LocalWrite {
            try ItemID.validate(id)
            return LocalWrite(
                transaction: self, definition: definition, inFlight: inFlight ?? [], now: now,
                mayAttemptsBeInFlight: inFlight == nil)
        }
        for id in changed { try write(id).recordChange(id: id) }
        for item in deleted { try write(item.id).recordDeletion(of: item) }
    }
}
