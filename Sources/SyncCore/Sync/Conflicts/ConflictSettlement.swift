// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Asks a resolver about one conflict and carries out what it says.
struct ConflictSettlement {
    let context: SyncContext
    let definition: SyncTableDefinition
    /// Whether the caller itself is sending the operation.
    let isInFlight: Bool

    /// How it ended.
    enum Result: Sendable {
        /// There is no resolver, or it leaves the operation pending; this is in the error log.
        case unresolved(TableOperationError)
        /// The operation is gone; the item as it is stored now.
        case settled(Item?)
        /// The operation goes on, made on the server's row.
        case sendAgain
        /// The user has changed the item while the resolver was thinking: this is the failure as it stands now.
        case changed(TableOperationError)
    }

    /// Settles the conflict that the error describes.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``, `CancellationError`. What the resolver throws, or what is wrong with its
    ///   decision, is recorded as the operation's error instead.
    func settle(_ conflict: TableOperationError) async throws -> Result {
        let found = try await context.read { snapshot in
            (
                try snapshot.operation(id: conflict.operationID),
                try snapshot.item(id: conflict.itemID, in: conflict.table)
            )
        }
        guard let operation = found.0 else { return .settled(found.1) }
        let isSame = operation.revision == conflict.revision
        // The resolver decides about the item as it is now.
        let conflict = isSame ? conflict : conflict.describing(operation, item: found.1)
        if !isSame { try await context.record(conflict) }
        do {
            let decided = try await decide(operation, client: found.1, conflict)
            guard let decided, decided != .keepPending else { return .unresolved(conflict) }
            return try await carryOut(decided, on: conflict)
        } catch {
            // A resolver may have cancelled work of its own: only a cancelled push or pull ends as cancelled.
            if Task.isCancelled { throw CancellationError() }
            if let failure = error as? SyncError, Self.isOfStore(failure) { throw failure }
            return .unresolved(try await record(error, instead: conflict))
        }
    }

    private static func isOfStore(_ failure: SyncError) -> Bool {
        [.storeFailure, .contextInvalid].contains(failure.code)
    }

    /// The decision, or `nil` when nobody is there to make one.
    private func decide(
        _ operation: TableOperation, client: Item?, _ error: TableOperationError
    ) async throws -> ConflictDecision? {
        if let decision = InsertConflict.decision(for: operation) { return decision }
        let conflict = Conflict(
            operation: operation, clientItem: operation.kind == .delete ? nil : client,
            serverItem: error.serverItem)
        return try await context.settings.resolver(of: definition.name)?.resolve(conflict)
    }

    private func carryOut(_ decision: ConflictDecision, on error: TableOperationError) async throws -> Result
    {
        let (definition, context, isInFlight) = (definition, context, isInFlight)
        return try await context.write { transaction in
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: error.operationID)
            if isInFlight { try effects.mergeBehind() }
            guard let operation = try transaction.operation(id: error.operationID) else {
                return .settled(try transaction.item(id: error.itemID, in: error.table))
            }
            guard operation.revision == error.revision else {
                let item = try transaction.item(id: error.itemID, in: error.table)
                let changed = error.describing(operation, item: item)
                try transaction.put(changed)
                return .changed(changed)
            }
            let resolution = try OperationResolution(
                of: error, in: transaction, definition: definition,
                inFlight: isInFlight ? [] : context.inFlight.all)
            try resolution.carryOut(decision)
            guard try transaction.operation(id: error.operationID) == nil else { return .sendAgain }
            return .settled(try context.noteSettled(error, in: transaction))
        }
    }

    private func record(_ failure: any Error, instead error: TableOperationError) async throws
        -> TableOperationError
    {
        let recorded = error.saying(
            (failure as? SyncError)?.message ?? "The conflict resolver failed: \(failure)")
        try await context.record(recorded)
        return recorded
    }
}

extension SyncContext {
    /// Notes that an operation is settled with this item, so that no page on its way takes the item back in time.
    ///
    /// - Returns: the item; `nil` when there is none any more.
    func noteSettled(_ error: TableOperationError, in transaction: any StoreTransaction) throws -> Item? {
        guard let item = try transaction.item(id: error.itemID, in: error.table) else { return nil }
        acknowledgements.note(item, id: item.id, in: error.table, from: StalePageGuard.pushes)
        return item
    }

    /// Puts the error into the error log, unless the operation is no longer pending.
    func record(_ error: TableOperationError) async throws {
        try await write { transaction in
            guard try transaction.operation(id: error.operationID) != nil else { return }
            try transaction.put(error)
        }
    }
}

extension TableOperationError {
    /// The same failure for the operation as it is now.
    fileprivate func describing(_ operation: TableOperation, item: Item?) -> TableOperationError {
        TableOperationError(
            operation, item: item ?? operation.deletedItem, serverItem: serverItem, status: status,
            code: code, message: message)
    }

    /// The same failure in other words.
    fileprivate func saying(_ message: String) -> TableOperationError {
        TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item,
            serverItem: serverItem, status: status, code: code, message: message, revision: revision)
    }
}
