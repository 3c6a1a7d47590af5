// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Resolves one conflict with the table's resolver.
struct ConflictResolution {
    let context: SyncContext
    let definition: SyncTableDefinition
    /// Whether the caller is sending the operation.
    let isInFlight: Bool

    /// What the resolution has changed.
    enum Result: Sendable {
        /// The operation stays pending with this error: there is no resolver, or it did not decide.
        case unresolved(TableOperationError)
        /// The operation was removed; the item as it is stored now.
        case resolved(Item?)
        /// The operation stays pending, rebased on the server's row; it can be sent again.
        case sendAgain
        /// The user has changed the item while the resolver ran: the error for the operation as it is now.
        case changed(TableOperationError)
    }

    /// Resolves the conflict that the error describes.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``, `CancellationError`; ``SyncError/Code/operationChanged`` when the caller is
    ///   not the push that is sending the operation. Any other error of the resolver, or of applying its decision, is recorded
    ///   as the operation's error instead.
    func resolve(_ conflict: TableOperationError) async throws -> Result {
        let (operation, item, current, wasDecided) = try await context.read { snapshot in
            let operation = try snapshot.operation(id: conflict.operationID)
            return (
                operation, try snapshot.item(id: conflict.itemID, in: conflict.table),
                try operation.map { try conflict.updated(for: $0, in: snapshot, definition) },
                try operation.map { try isDecided(conflict, $0, in: snapshot) }
            )
        }
        guard let operation, let current else { return .resolved(item) }
        if wasDecided == true { return .sendAgain }
        // Another process may be sending the operation: its push resolves the conflict.
        guard isInFlight || !operation.isAmbiguous else { return .unresolved(conflict) }
        // The resolver decides about the item as it is now.
        if current.revision != conflict.revision { try await context.record(current) }
        let conflict = current
        let decision: ConflictDecision?
        do {
            decision = try await self.decision(about: operation, client: item, conflict)
        } catch {
            return try await record(error, for: conflict)
        }
        guard let decision, decision != .keepPending else {
            emit(nil, about: operation, conflict)
            return .unresolved(conflict)
        }
        do {
            let result = try await apply(decision, to: conflict)
            if case .changed = result {} else { emit(decision, about: operation, conflict) }
            return result
        } catch let error as SyncError
            where error.isOfStore || error.code == .operationChanged && !isInFlight
        {
            throw error
        } catch {
            return try await record(error, for: conflict)
        }
    }

    /// Records an error of the resolver, or of its decision, as the operation's error.
    private func record(_ error: any Error, for conflict: TableOperationError) async throws -> Result {
        // A resolver may have cancelled its own tasks: only a cancelled push or pull throws cancellation.
        if Task.isCancelled { throw CancellationError() }
        let recorded = conflict.replacingMessage(
            (error as? SyncError)?.message ?? "The conflict resolver failed: \(error.textWithoutURL)")
        try await context.record(recorded)
        return .unresolved(recorded)
    }

    private func emit(
        _ decision: ConflictDecision?, about operation: TableOperation, _ conflict: TableOperationError
    ) {
        context.emit(
            .conflict(SyncEvent.ConflictDecided(operation, decision)),
            SyncLog.Details(operation, code: conflict.code))
    }

    /// Returns the decision; `nil` without a resolver.
    private func decision(
        about operation: TableOperation, client: Item?, _ error: TableOperationError
    ) async throws -> ConflictDecision? {
        if let decision = InsertConflict.decision(for: operation, row: error.serverItem) { return decision }
        let conflict = Conflict(
            operation, clientItem: operation.kind == .delete ? nil : client, serverItem: error.serverItem,
            definition: definition)
        return try await context.settings.resolver(of: definition.name)?.resolve(conflict)
    }

    /// Whether another process has decided the conflict meanwhile.
    private func isDecided(
        _ error: TableOperationError, _ operation: TableOperation, in snapshot: any StoreSnapshot
    ) throws -> Bool {
        try isInFlight && operation.revision != error.revision
            && snapshot.operationError(operationID: error.operationID) == nil
    }

    private func apply(_ decision: ConflictDecision, to error: TableOperationError) async throws -> Result {
        let (definition, context, isInFlight) = (definition, context, isInFlight)
        return try await context.write { transaction in
            let completion = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: error.operationID)
            if isInFlight { try completion.mergeBehind() }
            guard let operation = try transaction.operation(id: error.operationID) else {
                return .resolved(try transaction.item(id: error.itemID, in: error.table))
            }
            guard isInFlight || !operation.isAmbiguous else { return .unresolved(error) }
            guard operation.revision == error.revision else {
                if try isDecided(error, operation, in: transaction) { return .sendAgain }
                let changed = try error.updated(for: operation, in: transaction, definition)
                try transaction.put(changed)
                return .changed(changed)
            }
            let effect = try DecisionEffect(
                of: error, in: transaction, definition: definition, dialect: context.client.dialect,
                inFlight: isInFlight ? [] : context.inFlight.all, tablesToPull: context.tablesToPull,
                removal: CascadedRemoval(of: definition.name, in: context.store.dataSource))
            try effect.apply(decision)
            guard try transaction.operation(id: error.operationID) == nil else { return .sendAgain }
            return .resolved(try context.recordItem(of: effect.operation, in: transaction))
        }
    }
}

extension SyncContext {
    /// Stores the error in the error log, unless the operation has been changed or decided since.
    func record(_ error: TableOperationError) async throws {
        try await write { transaction in
            guard try transaction.operation(id: error.operationID)?.revision == error.revision else { return }
            try transaction.put(error)
        }
    }
}
