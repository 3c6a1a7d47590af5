// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Queues inserts of items that are in the store already: rows that were in the database before it was synced.
    ///
    /// If the server has a row already, its insert becomes an update with this device's fields. Items that the server has
    /// sent, and those with a pending operation, are not queued.
    ///
    /// - Parameter query: the items to queue; a query without filter selects all.
    /// - Returns: how many operations were queued, in one transaction.
    /// - Throws: ``SyncError/Code/filterNotSupported``, ``SyncError/Code/invalidParameter``,
    ///   ``SyncError/Code/invalidItemID`` for a row whose id cannot be sent, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    @discardableResult
    public func enqueueExisting(_ query: TableQuery) async throws -> Int {
        try validate(query, on: query.table)
        let now = environment.now()
        let count = try await writeLocally { transaction in
            let unsynced = try transaction.items(matching: query).items.filter { item in
                try !item.system.isOfServer
                    && transaction.operations(forItem: item.id, in: query.table).isEmpty
            }
            for item in unsynced {
                try ItemID.validate(item.id, in: query.table)
                try transaction.put(
                    TableOperation(
                        id: try transaction.nextOperationID(), table: query.table, itemID: item.id,
                        kind: .insert, isAdopted: true, changedAt: now))
            }
            return unsynced.count
        }
        commits.send(.everything(in: query.table))
        return count
    }

    /// Queues changes that the app has made to its own database without the context.
    ///
    /// The rows have the app's changes already, and their earlier state is unknown: updates send whole items, made on the
    /// version that the row still has, and a deletion that is discarded shows the row again after the next pull. All of it
    /// is one transaction. If the app crashes between its own commit and this call, the change is never sent. Prefer the
    /// store's method that runs in the app's transaction. A pull that stores a page between the two replaces the change.
    ///
    /// A row with another id is another row. Pass the row with the former id and the new id in one call: the insert has none of
    /// the former row's system properties.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - changed: the ids of rows that were added or changed.
    ///   - deleted: the rows that were deleted, as they were before.
    /// - Throws: ``SyncError/Code/itemNotFound`` for a changed row that is not in the table,
    ///   ``SyncError/Code/invalidOperation`` for a deleted row that is; ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``. Nothing is queued then.
    public func enqueueExternalChanges(
        in table: String, changed: [String] = [], deleted: [Item] = []
    ) async throws {
        let definition = try definition(of: table)
        let (inFlight, isShared, now) = (inFlight, isStoreShared, environment.now())
        try await writeLocally { transaction in
            try transaction.enqueueExternalChanges(
                in: definition, changed: changed, deleted: deleted, areCurrent: false,
                inFlight: inFlight.snapshot(isShared: isShared), at: now)
        }
        // The app's own commits were not recorded.
        commits.send(.everything(in: table))
    }
}

extension StoreTransaction {
    /// Queues changes that are in the table already, by the rules of local writes.
    ///
    /// - Parameters:
    ///   - areCurrent: whether the deleted rows were like this when this transaction began.
    ///   - inFlight: the operations that may be on their way to the server.
    /// - Throws: as ``SyncContext/enqueueExternalChanges(in:changed:deleted:)``.
    package func enqueueExternalChanges(
        in definition: SyncTableDefinition, changed: [String], deleted: [Item], areCurrent: Bool,
        inFlight: InFlightSnapshot, at now: Timestamp
    ) throws {
        func write(_ id: String) throws -> LocalWrite {
            try ItemID.validate(id, in: definition.name)
            return LocalWrite(transaction: self, definition: definition, inFlight: inFlight, now: now)
        }
        for id in changed {
            try removeSystemProperties(ofItem: id, renamedFrom: deleted, in: definition)
            try write(id).recordChange(id: id)
        }
        for item in deleted { try write(item.id).recordDeletion(of: item, isCurrent: areCurrent) }
    }

    /// Removes the system properties of an item that the app has given another id: they are those of the row with the former
    /// id. The server has no row of the new one.
    private func removeSystemProperties(
        ofItem id: String, renamedFrom deleted: [Item], in definition: SyncTableDefinition
    ) throws {
        guard !deleted.isEmpty, var item = try item(id: id, in: definition.name),
            item.system.version != nil,
            deleted.contains(where: { $0.id != id && $0.hasSameRow(as: item) }),
            try operations(forItem: id, in: definition.name).isEmpty
        else { return }
        item.system = SystemProperties()
        try upsert([item], in: definition.name)
    }
}

extension Item {
    fileprivate func hasSameRow(as other: Item) -> Bool {
        system.version == other.system.version && system.updatedAt == other.system.updatedAt
            && system.createdAt == other.system.createdAt
    }
}
