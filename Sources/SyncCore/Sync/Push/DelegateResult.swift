// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// What a delegate decides about an operation: an item as its result, or an error.

/// The change of an operation as its delegate last saw it. What differs from it is a newer change of the user.
struct SeenChange: Sendable {
    let kind: TableOperation.Kind
    /// The item; for a delete, as it was before.
    let item: Item?
}

extension OperationSender {
    /// Stores the item that the delegate returned as the operation's result; newer changes of the user stay pending.
    ///
    /// - Parameters:
    ///   - seen: the change that the item is the result of.
    ///   - outcome: what the last execution came to; `nil` when there was none.
    /// - Throws: ``SyncError/Code/invalidItem`` or ``SyncError/Code/invalidItemID`` for an item that cannot be it.
    func store(_ item: Item, for seen: SeenChange, after outcome: Outcome?) async throws {
        let operation = try await context.read { [operationID] in try $0.operation(id: operationID) }
        let itemID = operation?.itemID ?? seen.item?.id ?? item.id
        guard item.id.hasSameBytes(as: itemID) else {
            throw SyncError(.invalidItemID, "The item of an operation must keep its id '\(itemID)'.")
        }
        var result = item
        result.fields = try definition.normalizedForWriting(item.fields)
        if case .completed(let stored) = outcome {
            // The copy that was sent has an older version, and after a delete there is nothing to store.
            guard let stored, stored != result else { return }
            if !item.isLater(than: stored) { result.system = stored.system }
        } else if operation == nil {
            // Deleted or purged meanwhile: the delegate has not seen that.
            throw SyncError.operationChanged(operationID)
        }
        let (definition, operationID, row) = (definition, operationID, result)
        try await context.write { transaction in
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            try effects.complete(with: row, for: seen)
        }
    }

    /// Records an error that the delegate threw.
    ///
    /// - Returns: the error; `nil` when the operation is no longer pending.
    func record(_ error: any Error) async throws -> TableOperationError? {
        try await context.write { [operationID] transaction in
            guard let operation = try transaction.operation(id: operationID) else { return nil }
            let item = try transaction.item(id: operation.itemID, in: operation.table)
            let recorded = TableOperationError(
                operation, item: item ?? operation.deletedItem, serverItem: operation.serverItem,
                delegateError: error)
            try transaction.put(recorded)
            return recorded
        }
    }
}

extension AttemptCompletion {
    /// The delegate says that the server has this row as the result of the change that it saw.
    fileprivate func complete(with row: Item, for seen: SeenChange) throws {
        guard let operation = try transaction.operation(id: operationID) else {
            _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(row)
            return
        }
        let isChanged = try isChanged(operation, since: seen)
        if row.system.deleted, isChanged {
            throw SyncError(
                .operationChanged,
                "The item '\(operation.itemID)' was changed while the delegate decided; push again first.")
        }
        if seen.kind == .delete, operation.kind != .delete { return try replace(row, with: operation) }
        var known = seen.item.map(definition.syncedFields) ?? [:]
        if operation.kind == .delete, !isChanged {
            // A delete that ends with an item is taken back.
            let restored = row.keepingLocalColumns(of: operation.deletedItem, definition: definition)
            try transaction.upsert([restored], in: definition.name)
            known = definition.syncedFields(of: restored)
        }
        let sent = TableOperation.SentSnapshot(kind: .update, fields: known, version: nil)
        _ = try complete(with: row, sent: sent)
    }

    /// Whether the user has changed the item since the delegate saw it.
    private func isChanged(_ operation: TableOperation, since seen: SeenChange) throws -> Bool {
        guard operation.kind == seen.kind, try operationBehind(operation) == nil else { return true }
        guard operation.kind != .delete else { return false }
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        return local?.fields != seen.item?.fields
    }
}
