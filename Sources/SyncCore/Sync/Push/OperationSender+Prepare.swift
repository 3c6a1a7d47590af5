// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension OperationSender {
    /// An operation that is marked as attempted, with what is to be sent.
    struct Attempt: Sendable {
        /// The operation as it was marked.
        let operation: TableOperation
        /// What is sent now.
        let snapshot: TableOperation.SentSnapshot
        /// The item as it was then; for a delete, as it was before.
        let item: Item?
        /// Whether an earlier attempt may have been applied.
        let wasAmbiguous: Bool
        /// Notes that a request of this attempt was repeated, so that the first may have been applied.
        let repetition = Repetition()

        /// The attempt whose effect the server's row is compared with: the first of which nobody knows.
        var proof: TableOperation.SentSnapshot { operation.sent ?? snapshot }

        /// A refusal says that the request was not applied; it says nothing of an earlier one.
        var isAppliedIfRefused: Bool? { wasAmbiguous || repetition.hasHappened ? nil : false }
    }

    /// Remembers that something was done again.
    final class Repetition: Sendable {
        private let state = Mutex(false)

        var hasHappened: Bool { state.withLock { $0 } }

        func note() { state.withLock { $0 = true } }
    }

    enum Prepared: Sendable {
        /// Ready to be sent.
        case attempt(Attempt)
        /// The item is again as the server has it: the operation is gone.
        case unneeded(Item?)
        /// It waits for an operation of another item, as this error says.
        case held(TableOperationError)
        /// Not due.
        case skipped
    }

    /// Persists the attempt and its content before any byte leaves, so that a lost answer can be proven even after
    /// a crash.
    func prepare(item: Item?, insteadOf original: Item?) async throws -> Prepared {
        let sender = self
        return try await context.write { try sender.prepare(item: item, insteadOf: original, in: $0) }
    }

    private func prepare(
        item: Item?, insteadOf original: Item?, in transaction: any StoreTransaction
    ) throws -> Prepared {
        guard var operation = try transaction.operation(id: operationID), operation.state != .parked,
            try transaction.operations(forItem: operation.itemID, in: operation.table).first?.id
                == operationID
        else { return .skipped }
        if let item { try substitute(item, insteadOf: original, for: &operation, in: transaction) }
        operation.sent = definition.withoutLocalOnlyColumns(operation.sent)
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        let references = RowReferences(catalog: context.store.dataSource.catalog, definition: definition)
        if let first = try references.prerequisite(of: operation, item: local, in: transaction) {
            let held = TableOperationError.held(operation, by: first, item: local)
            try transaction.put(held)
            return .held(held)
        }
        let snapshot = operation.nextAttempt(
            item: local, definition: definition,
            sendsChangedFieldsOnly: context.sendsChangedFieldsOnly)
        guard let snapshot else {
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            return .unneeded(try effects.dropUnneeded())
        }
        let wasAmbiguous = operation.isAmbiguous
        operation.state = .attempted
        operation.revision += 1
        operation.lastAttempt = context.environment.now()
        operation.sent = operation.sent ?? snapshot
        try transaction.put(operation)
        return .attempt(
            Attempt(
                operation: operation, snapshot: snapshot, item: local ?? operation.deletedItem,
                wasAmbiguous: wasAmbiguous))
    }

    /// Puts the delegate's item in place of the stored one. A version that it carries is the one it was made on.
    private func substitute(
        _ item: Item, insteadOf original: Item?, for operation: inout TableOperation,
        in transaction: any StoreTransaction
    ) throws {
        guard item.id.hasSameBytes(as: operation.itemID) else {
            throw SyncError(
                .invalidItemID, "The item of an operation must keep its id '\(operation.itemID)'.")
        }
        var stored = item
        stored.fields = try definition.normalizedForWriting(item.fields)
        if let version = item.system.version, operation.kind != .insert {
            try operation.adopt(version, in: transaction, definition: definition)
        }
        guard operation.kind != .delete else { return }
        if let original, let local = try transaction.item(id: item.id, in: definition.name),
            local.fields != original.fields
        {
            stored = stored.merged(over: local, ancestor: original.fields, definition: definition)
        }
        try transaction.upsert([stored], in: definition.name)
    }
}

extension TableOperation {
    /// Makes this a change of the row of that version.
    ///
    /// If that row is known, fields are sent that differ from it; of one that is not, the item replaces all.
    fileprivate mutating func adopt(
        _ newVersion: String, in transaction: any StoreTransaction, definition: SyncTableDefinition
    ) throws {
        guard version.map({ !$0.hasSameBytes(as: newVersion) }) ?? true else { return }
        let shown = try transaction.operationError(operationID: id)?.serverItem
        let row = [serverItem, shown].compactMap { $0 }.first {
            $0.system.version?.hasSameBytes(as: newVersion) == true
        }
        if let row { base = definition.withoutLocalOnlyColumns(row) } else { replaces = kind == .update }
        version = newVersion
    }
}
