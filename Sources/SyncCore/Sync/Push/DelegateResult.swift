// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The change of an operation as its delegate last saw it. A difference from it is a newer change of the user.
struct SeenChange: Sendable {
    let kind: TableOperation.Kind
    /// The item; for a delete, as it was before.
    let item: Item?
}

/// An item that the delegate returned as the result of an operation.
struct DelegateResult: Sendable {
    var item: Item
    /// The change that the item is the result of.
    let seen: SeenChange
    /// The result of the last execution; `nil` when the delegate has not executed the operation.
    let sent: OperationSender.Result?

    /// The item that the last execution has stored; `nil` without one, and after a delete.
    private var stored: Item? { if case .completed(let stored) = sent { stored } else { nil } }

    /// Whether the execution has stored the item already.
    var isStored: Bool { stored == item }

    /// Stores the item as the operation's result. Newer changes of the user stay pending.
    ///
    /// - Throws: ``SyncError/Code/invalidItemID``, ``SyncError/Code/operationChanged``.
    func apply(_ completion: AttemptCompletion, dialect: WireDialect) throws {
        let operation = try completion.transaction.operation(id: completion.operationID)
        let itemID = operation?.itemID ?? seen.item?.id ?? item.id
        guard item.id.hasSameBytes(as: itemID) else { throw SyncError.itemIDChanged(from: itemID) }
        var row = item
        if case .completed = sent {
            // The copy that was sent has an older version. After a delete there is nothing to store.
            guard let stored else { return }
            // A pull may have received a later state, and its token is past it.
            if operation == nil {
                let local = try completion.transaction.readableItem(id: itemID, in: completion.definition)
                guard let local, item.isLater(than: local) || local.isSameState(as: stored) else { return }
            }
            if !item.isLater(than: stored) { row.system = stored.system }
        } else if operation == nil {
            // A purge or a decision has removed the operation, which the delegate has not seen.
            throw SyncError.operationChanged(completion.operationID)
        }
        // An item without system properties is a result for the row that the operation was made on.
        if row.system.isUnknown, let system = seen.item?.system { row.system = system }
        let reported = try completion.transaction.operationError(operationID: completion.operationID)?
            .serverItem
        let known = [stored, reported, operation?.serverItem, operation?.base]
        row = row.addingUndeclaredColumns(of: known + [seen.item], for: dialect)
        if !row.system.deleted { row.addMissingColumns(of: known, completion.definition) }
        if let operation {
            try apply(row, to: operation, completion)
        } else if let stored, !row.isLater(than: stored),
            let edit = try completion.transaction.operations(
                forItem: itemID, in: completion.definition.name
            ).first
        {
            try add(row, since: stored, to: edit, completion)
        } else {
            try completion.applier.apply(row)
        }
    }

    /// Stores what the delegate has changed in the result, without the fields that the user has edited during the execution.
    private func add(
        _ row: Item, since stored: Item, to edit: TableOperation, _ completion: AttemptCompletion
    ) throws {
        let (transaction, definition) = (completion.transaction, completion.definition)
        guard var base = edit.base, var item = try transaction.item(id: row.id, in: definition.name) else {
            return
        }
        for column in definition.syncedColumns where row.content[column.name] != stored.content[column.name] {
            let value = row.content[column.name]
            if item.content[column.name] == stored.content[column.name] { item.content[column.name] = value }
            base.content[column.name] = value
        }
        var edit = edit
        edit.base = base
        try transaction.put(edit)
        try transaction.upsert([item], in: definition.name)
    }

    private func apply(_ row: Item, to operation: TableOperation, _ completion: AttemptCompletion) throws {
        let definition = completion.definition
        let isChanged = try isChanged(operation, completion)
        if row.system.deleted, isChanged {
            throw SyncError(
                .operationChanged,
                "The user changed the item '\(operation.itemID)' while the delegate ran. Push again.")
        }
        if seen.kind == .delete, operation.kind != .delete {
            try completion.replace(row, with: operation)
            return try completion.applier.applyKeptRow(of: operation, ifLaterThan: row)
        }
        var known = seen.item.map(definition.syncedFields) ?? [:]
        if operation.kind == .delete, !isChanged, !row.system.deleted {
            // An item as the result of a delete restores the item.
            let restored = row.keepingLocalColumns(
                of: operation.deletedItem(in: definition), definition: definition)
            try completion.transaction.upsert([restored], in: definition.name)
            known = definition.syncedFields(of: restored)
        }
        let sent = TableOperation.SentSnapshot(kind: .update, fields: known, version: nil)
        _ = try completion.complete(
            operation, before: completion.transaction.operation(behind: operation), with: row, sent: sent,
            isResponse: false, receivedSince: rowReceivedSince(row, operation))
    }

    /// Returns the newest row that the store has, if it has received it since the delegate saw the item and the delegate's row
    /// is not known to be later.
    private func rowReceivedSince(_ row: Item, _ operation: TableOperation) -> Item? {
        guard let newest = operation.newestServerItem, !newest.isSameState(as: row),
            !row.isLater(than: newest)
        else { return nil }
        let wasSeen =
            newest.system.version == seen.item?.system.version
            && seen.item.map(newest.isInsertedAgain) != true
        return wasSeen ? nil : newest
    }

    /// Whether the user has changed the item since the delegate saw it.
    private func isChanged(_ operation: TableOperation, _ completion: AttemptCompletion) throws -> Bool {
        guard operation.kind == seen.kind, try completion.transaction.operation(behind: operation) == nil
        else {
            return true
        }
        let item =
            operation.kind == .delete
            ? operation.deletedItem
            : try completion.transaction.item(id: operation.itemID, in: completion.definition.name)
        return item?.content != seen.item?.content
    }
}

extension Item {
    /// Adds the columns that the result of an operation lacks, with the values of the server's row: an edit of such a column is
    /// no longer pending.
    ///
    /// - Parameter known: the states of the row that the device has received, the most recent first.
    fileprivate mutating func addMissingColumns(of known: [Item?], _ definition: SyncTableDefinition) {
        let (rows, version) = (known.compactMap(\.self), system.version)
        guard let row = rows.first(where: { $0.system.version == version }) ?? rows.first else { return }
        for column in definition.syncedColumns where content[column.name] == nil {
            content[column.name] = row.content[column.name] ?? .null
        }
    }
}

extension OperationSender {
    /// Stores the item that the delegate returned.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` and the errors of ``DelegateResult/apply(_:)``; then nothing is stored.
    func store(_ result: DelegateResult) async throws {
        var result = result
        result.item.content = try definition.normalizedForWriting(result.item.content)
        guard !result.isStored else { return }
        let (context, definition, operationID, stored) = (context, definition, operationID, result)
        try await context.write { transaction in
            let operation = try transaction.operation(id: operationID)
            try stored.apply(
                AttemptCompletion(
                    transaction: transaction, definition: definition, operationID: operationID),
                dialect: context.client.dialect)
            let (id, table) = (operation?.itemID ?? stored.item.id, definition.name)
            try context.recordResult(
                transaction.item(id: id, in: table), id: id, in: table, newest: operation?.newestServerItem,
                transaction)
        }
    }

    /// Merges the operation with a change behind it, unless the server may have applied an attempt.
    ///
    /// A row that the delegate has inserted, and that the store could not store, counts as sent: a deletion by the user deletes
    /// it.
    func mergeUnsent(in transaction: any StoreTransaction) throws {
        guard var operation = try transaction.operation(id: operationID), !operation.isAmbiguous else {
            return
        }
        if operation.kind == .insert, let row = context.inFlight.unstoredRow(of: operationID) {
            operation.state = .attempted
            operation.revision += 1
            operation.sent = TableOperation.SentSnapshot(
                kind: .insert, fields: definition.syncedFields(of: row), version: nil)
            try transaction.put(operation)
        }
        try AttemptCompletion(transaction: transaction, definition: definition, operationID: operationID)
            .mergeBehind()
    }

    /// Records an error that the delegate threw.
    ///
    /// - Parameter result: the result of the last execution by the delegate; `nil` when there was none.
    /// - Returns: the recorded error; `nil` when the operation is no longer pending.
    func record(_ error: any Error, after result: Result? = nil) async throws -> TableOperationError? {
        try await context.write { [operationID, definition] transaction in
            // The error is about the whole change of the item, with what a crash has left behind the operation.
            try AttemptCompletion(transaction: transaction, definition: definition, operationID: operationID)
                .mergeBehind()
            guard let operation = try transaction.operation(id: operationID) else { return nil }
            let item = try transaction.readableItem(id: operation.itemID, in: definition)
            // The delegate can have decided a conflict already.
            let logged = try transaction.operationError(operationID: operationID)
            let failure = result?.failure.flatMap { $0.isConflict ? nil : $0 }
            var recorded = TableOperationError(
                operation, item: item ?? operation.deletedItem, serverItem: operation.serverItem,
                delegateError: error, status: failure?.status)
            if failure == nil { recorded = recorded.keeping(logged) }
            try transaction.put(recorded)
            return recorded
        }
    }
}
