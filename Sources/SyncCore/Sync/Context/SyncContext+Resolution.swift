// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Removes the operation and its error, and stores the item, for example the server's row.
    ///
    /// The item counts as the server's row: the next change is made on its version. An item without a version, or with the one
    /// that the failed change was made on, gets that of the row which the error shows. If a pull has received a later row, that
    /// row is stored instead.
    ///
    /// - Throws: ``SyncError/Code/operationNotFound`` when the operation is no longer pending,
    ///   ``SyncError/Code/operationChanged`` when it was changed, sent again or is being sent;
    ///   ``SyncError/Code/invalidOperation`` when the user has inserted the item again after a delete whose outcome is unknown:
    ///   that item stays, and a decision without an item is about the delete only;
    ///   ``SyncError/Code/invalidItem``, ``SyncError/Code/invalidItemID``, ``SyncError/Code/storeFailure``;
    ///   ``SyncError/Code/unknownTable`` when the app no longer declares the table, whose operations can only be discarded by
    ///   ``cancelAndDiscardItem(for:)``. Nothing is changed then.
    public func cancelAndUpdateItem(for error: TableOperationError, with item: Item) async throws {
        try await resolve(error, with: item) { effect, item in
            if let item { try effect.keepServer(replacedBy: item) }
        }
    }

    /// Removes the operation and its error, and restores the newest known state of the server's row, or removes the item
    /// when no row is known. For a table that the app no longer declares, the operation and its error are removed, and the
    /// item when the app declares the table again.
    ///
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``; ``SyncError/Code/invalidOperation`` for an operation of such a table
    ///   that another one of the same item precedes.
    public func cancelAndDiscardItem(for error: TableOperationError) async throws {
        guard store.dataSource.catalog.tables.contains(where: { $0.name == error.table }) else {
            return try await cancelOperationOfUndeclaredTable(error)
        }
        try await resolve(error, with: nil) { effect, _ in
            try effect.keepServer(effect.newestServerItem())
        }
    }

    /// The rows of a table that the app no longer declares cannot be changed. When the app declares it again, the item is
    /// removed, and the server's rows are pulled again, because the delta tokens are removed.
    private func cancelOperationOfUndeclaredTable(_ error: TableOperationError) async throws {
        try await writeLocally { transaction in
            guard let operation = try transaction.operation(of: error) else {
                throw SyncError.operationNotFound(error.operationID)
            }
            guard operation.revision == error.revision else {
                throw SyncError.operationChanged(error.operationID)
            }
            if let first = try transaction.operation(before: operation) {
                throw SyncError(
                    .invalidOperation,
                    "Operation \(first.id) of the same item comes first: discard it, and this one with it.")
            }
            // A change that was made while the operation was sent is part of what is discarded.
            if operation.kind != .delete, let behind = try transaction.operation(behind: operation) {
                try transaction.removeOperationAndError(id: behind.id)
            }
            try transaction.removeOperationAndError(id: operation.id)
            try PurgeStamp.recordDiscarded(operation.itemID, in: error.table, transaction)
            try transaction.recordPurge(of: error.table)
        }
    }

    /// Keeps the operation to send this item, made on the server's row that the error shows, and removes the error.
    ///
    /// The next push overwrites that state of the row, and no later one. An insert of a row that the server has becomes an
    /// update, and an update of a row that it no longer has becomes an insert.
    ///
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``; ``SyncError/Code/invalidOperation`` for a delete, which sends no
    ///   item: see ``changeKind(for:to:with:)``.
    public func keepAndUpdateItem(for error: TableOperationError, with item: Item) async throws {
        try await resolve(error, with: item) { effect, item in
            guard effect.operation.kind != .delete else {
                throw SyncError(
                    .invalidOperation,
                    "A delete sends no item. To send an update instead, call changeKind(for:to:with:).")
            }
            try effect.keepClient(item)
        }
    }

    /// Keeps the operation to send the stored item, as a resolver's ``ConflictDecision/keepClient`` does, and removes the error.
    ///
    /// - Throws: as ``changeKind(for:to:with:)``.
    package func keepItem(for error: TableOperationError) async throws {
        try await resolve(error, with: nil) { effect, _ in try effect.keepClient(nil) }
    }

    /// Changes the kind of the operation, made on the server's row that the error shows, and removes the error.
    ///
    /// - Parameters:
    ///   - kind: the new kind: `.update` for an insert of a row that the server has, `.insert` for an update of a row that
    ///     it does not have.
    ///   - item: the item to store and send; `nil` keeps the stored one. For a delete the item is removed.
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``; ``SyncError/Code/expectedItem`` when there is no item to send.
    public func changeKind(
        for error: TableOperationError, to kind: TableOperation.Kind, with item: Item? = nil
    ) async throws {
        try await resolve(error, with: item) { effect, item in
            try effect.keep(kind: kind, item: item)
        }
    }

    /// Replays a parked operation: the next push sends it again. Its error stays until then.
    ///
    /// - Throws: ``SyncError/Code/operationNotFound``, ``SyncError/Code/storeFailure``.
    public func replay(operationID: Int64) async throws {
        try await writeLocally { transaction in
            guard var operation = try transaction.operation(id: operationID) else {
                throw SyncError.operationNotFound(operationID)
            }
            operation.unpark()
            try transaction.put(operation)
        }
    }

    /// Replays all parked operations: see ``replay(operationID:)``.
    ///
    /// - Parameter table: replays only those of this table; `nil` is all.
    /// - Returns: the number of the operations.
    /// - Throws: ``SyncError/Code/storeFailure``.
    @discardableResult
    public func replayParkedOperations(in table: String? = nil) async throws -> Int {
        try await writeLocally { transaction in
            // Every parked operation has an error.
            let parked = try transaction.operationErrors(in: table)
                .compactMap { try transaction.operation(id: $0.operationID) }.filter(\.isParked)
            for var operation in parked {
                operation.unpark()
                try transaction.put(operation)
            }
            return parked.count
        }
    }

    private func resolve(
        _ error: TableOperationError, with item: Item?,
        _ apply: @escaping @Sendable (DecisionEffect, Item?) throws -> Void
    ) async throws {
        let definition = try definition(of: error.table)
        var normalizedItem = item
        if let item {
            guard item.id.hasSameBytes(as: error.itemID) else {
                throw SyncError(
                    .invalidItemID, "The item must have the id of the operation's item, '\(error.itemID)'.")
            }
            normalizedItem?.content = try definition.normalizedForWriting(item.content)
        }
        let (inFlight, normalized, now) = (inFlight, normalizedItem, environment.now())
        try await writeLocally { [self] transaction in
            let effect = try DecisionEffect(
                of: error, in: transaction, definition: definition, dialect: client.dialect,
                inFlight: inFlight.all, decidedAt: now, tablesToPull: tablesToPull,
                removal: CascadedRemoval(of: definition.name, in: store.dataSource))
            if normalized != nil, effect.behind != nil {
                throw SyncError(
                    .invalidOperation,
                    "The item '\(error.itemID)' was inserted again after this operation, and stays as it is. Decide without an item."
                )
            }
            try apply(effect, normalized)
            if try transaction.operation(id: error.operationID) == nil {
                _ = try recordItem(of: effect.operation, in: transaction)
            }
        }
    }
}
