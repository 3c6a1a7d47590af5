// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Asks a resolver about one conflict and carries out what it says.
struct ConflictSettlement {
    let context: SyncContext
    let definition: TableDefinition
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
    /// - Throws: ``SyncError/Code/storeFailure``, `CancellationError`; what the resolver throws is recorded instead.
    func settle(_ error: TableOperationError) async throws -> Result {
        let found = try await context.read { snapshot in
            (
                try snapshot.operation(id: error.operationID),
                try snapshot.item(id: error.itemID, in: error.table)
            )
        }
        guard let operation = found.0 else { return .settled(found.1) }
        let decision: ConflictDecision
        do {
            guard let decided = try await decide(operation, client: found.1, error) else {
                return .unresolved(error)
            }
            decision = decided
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch let failure {
            return .unresolved(try await record(failure, instead: error))
        }
        if decision == .keepPending { return .unresolved(error) }
        return try await carryOut(decision, on: error)
    }

    /// The decision, or `nil` when nobody is there to make one.
    private func decide(
        _ operation: TableOperation, client: Item?, _ error: TableOperationError
    ) async throws -> ConflictDecision? {
        if operation.isAdopted { return .keepClient }
        let conflict = Conflict(
            operation: operation, clientItem: operation.kind == .delete ? nil : client,
            serverItem: error.serverItem)
        return try await context.settings.resolver(of: definition.name)?.resolve(conflict)
    }

    private func carryOut(_ decision: ConflictDecision, on error: TableOperationError) async throws -> Result
    {
        let (definition, context, isInFlight) = (definition, context, isInFlight)
        return try await context.write { transaction in
            let effects = PushEffects(
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
            return .settled(try transaction.item(id: error.itemID, in: error.table))
        }
    }

    private func record(_ failure: any Error, instead error: TableOperationError) async throws
        -> TableOperationError
    {
        let recorded = error.saying(
            (failure as? SyncError)?.message ?? "The conflict resolver failed: \(failure)")
        try await context.write { try $0.put(recorded) }
        return recorded
    }
}

extension TableOperationError {
    /// The same failure for the operation as it is now.
    fileprivate func describing(_ operation: TableOperation, item: Item?) -> TableOperationError {
        TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: operation.kind,
            item: item ?? operation.deletedItem, serverItem: serverItem, status: status, code: code,
            message: message,
            revision: operation.revision)
    }

    /// The same failure in other words.
    fileprivate func saying(_ message: String) -> TableOperationError {
        TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item,
            serverItem: serverItem, status: status, code: code, message: message, revision: revision)
    }
}
