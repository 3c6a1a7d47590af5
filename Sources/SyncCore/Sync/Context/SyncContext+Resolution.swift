// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Cancels the operation and stores the item instead, for example the server's.
    ///
    /// The item counts as what the server has: its version is used for the next change. The error is gone.
    ///
    /// - Throws: ``SyncError/Code/operationNotFound`` when the operation is no longer pending,
    ///   ``SyncError/Code/operationChanged`` when it was changed, sent again or is being sent;
    ///   ``SyncError/Code/invalidItem``, ``SyncError/Code/invalidItemID``, ``SyncError/Code/storeFailure``.
    ///   Nothing is changed then.
    public func cancelAndUpdateItem(for error: TableOperationError, with item: Item) async throws {
        try await resolve(error, with: item) { resolution, item in
            try resolution.keepServer(item)
        }
    }

    /// Cancels the operation and brings back the server's row as it was last seen, or removes the item when the
    /// server was not seen to have it. The error is gone. An operation of a table that the app no longer declares is
    /// cancelled, and its rows are left for when the table is declared again.
    ///
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``.
    public func cancelAndDiscardItem(for error: TableOperationError) async throws {
        guard store.dataSource.catalog.tables.contains(where: { $0.name == error.table }) else {
            return try await cancelOperationOfUndeclaredTable(error)
        }
        try await resolve(error, with: nil) { resolution, _ in
            try resolution.keepServer(resolution.newestServerItem)
        }
    }

    /// The rows of a table that the app no longer declares cannot be changed. Without its delta tokens the table is
    /// pulled anew when it is declared again, which brings the server's rows back.
    private func cancelOperationOfUndeclaredTable(_ error: TableOperationError) async throws {
        try await write { transaction in
            guard let operation = try transaction.operation(id: error.operationID) else {
                throw SyncError.operationNotFound(error.operationID)
            }
            guard operation.revision == error.revision else {
                throw SyncError.operationChanged(error.operationID)
            }
            try transaction.removeOperation(id: operation.id)
            try transaction.removeOperationError(operationID: operation.id)
            for (key, _) in try transaction.configValues(in: error.table, kind: .deltaToken) {
                try transaction.setConfigValue(nil, for: key)
            }
        }
    }

    /// Keeps the operation and lets it send this item, made on the server's row that the error shows.
    ///
    /// The next push overrules that row, and no later one. An insert of a row that the server has goes on as an
    /// update, an update of a row that it no longer has as an insert. The error is gone.
    ///
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``; ``SyncError/Code/invalidOperation`` for a delete, which sends no
    ///   item: see ``changeKind(for:to:with:)``.
    public func keepAndUpdateItem(for error: TableOperationError, with item: Item) async throws {
        try await resolve(error, with: item) { resolution, item in
            guard resolution.operation.kind != .delete else {
                throw SyncError(.invalidOperation, "A delete sends no item; change its kind instead.")
            }
            try resolution.keepClient(item)
        }
    }

    /// Makes the operation one of another kind, made on the server's row that the error shows.
    ///
    /// - Parameters:
    ///   - kind: what to do now: an insert of a row that the server has becomes an update, an update of one
    ///     that it has not, an insert.
    ///   - item: the item to store and send; `nil` keeps the stored one. A delete removes it.
    /// - Throws: as ``cancelAndUpdateItem(for:with:)``; ``SyncError/Code/expectedItem`` when there is no item to send.
    public func changeKind(
        for error: TableOperationError, to kind: TableOperation.Kind, with item: Item? = nil
    ) async throws {
        try await resolve(error, with: item) { resolution, item in
            try resolution.keep(kind: kind, item: item)
        }
    }

    /// Lets a parked operation be sent again by the next push; its error stays until then.
    ///
    /// - Throws: ``SyncError/Code/operationNotFound``, ``SyncError/Code/storeFailure``.
    public func replay(operationID: Int64) async throws {
        try await write { transaction in
            guard var operation = try transaction.operation(id: operationID) else {
                throw SyncError.operationNotFound(operationID)
            }
            operation.unpark()
            try transaction.put(operation)
        }
    }

    private func resolve(
        _ error: TableOperationError, with item: Item?,
        _ decide: @escaping @Sendable (OperationResolution, Item?) throws -> Void
    ) async throws {
        let definition = try definition(of: error.table)
        var normalized = item
        if let item {
            guard item.id.hasSameBytes(as: error.itemID) else {
                throw SyncError(
                    .invalidItemID, "The item must be the one of the operation, '\(error.itemID)'.")
            }
            normalized?.fields = try definition.normalizedForWriting(item.fields)
        }
        let (inFlight, resolved) = (inFlight, normalized)
        try await write { [self] transaction in
            let resolution = try OperationResolution(
                of: error, in: transaction, definition: definition, inFlight: inFlight.all)
            try decide(resolution, resolved)
            if try transaction.operation(id: error.operationID) == nil {
                _ = try noteSettled(error, in: transaction)
            }
        }
    }
}
