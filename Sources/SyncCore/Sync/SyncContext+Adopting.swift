// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Queues local items as inserts that nobody has queued: rows that were in the database before it was synced.
    ///
    /// An insert of a row that the server turns out to have becomes an update of it, with this device's fields. Items
    /// that have a version or a pending operation are left alone.
    ///
    /// - Parameter query: which items; all of them for the table's bare query.
    /// - Returns: how many operations were queued, in one transaction.
    /// - Throws: ``SyncError/Code/filterNotSupported``, ``SyncError/Code/invalidItemID`` for a row whose id cannot be
    ///   sent, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    @discardableResult
    public func adopt(_ query: TableQuery) async throws -> Int {
        try validate(query, on: query.table)
        let now = environment.now()
        return try await write { transaction in
            let strangers = try transaction.items(matching: query).items.filter { item in
                try item.system.version == nil
                    && transaction.operations(forItem: item.id, in: query.table).isEmpty
            }
            for item in strangers {
                try ItemID.validate(item.id)
                try transaction.put(
                    TableOperation(
                        id: try transaction.lastOperationID() + 1, table: query.table, itemID: item.id,
                        kind: .insert, isAdopted: true, changedAt: now))
            }
            return strangers.count
        }
    }

    /// Queues changes that the app made to its own database behind the context's back.
    ///
    /// The rows are as the app left them; what they were before is unknown, so updates send whole items, on the
    /// version that the row still has. All of it is one transaction.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - changed: the ids of rows that were added or changed.
    ///   - deleted: the rows that were deleted, as they were.
    /// - Throws: ``SyncError/Code/itemNotFound`` for a changed row that is not there,
    ///   ``SyncError/Code/invalidOperation`` for a deleted one that is; ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    public func recordDirectChanges(
        in table: String, changed: [String] = [], deleted: [Item] = []
    ) async throws {
        let definition = try definition(of: table)
        for id in changed + deleted.map(\.id) { try ItemID.validate(id) }
        let (inFlight, now) = (inFlight, environment.now())
        try await write { transaction in
            let write = LocalWrite(
                transaction: transaction, definition: definition, inFlight: inFlight.all, now: now)
            for id in changed { try write.recordChange(id: id) }
            for item in deleted { try write.recordDeletion(of: item) }
        }
    }
}
