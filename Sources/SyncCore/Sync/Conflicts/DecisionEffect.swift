// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a decision about a failed operation does to its item, the operation and its error, inside one transaction.
///
/// Resolvers decide with a ``ConflictDecision``, the app with the methods of ``SyncContext``:
///
/// | Decision | Item | Operation | Error |
/// |---|---|---|---|
/// | `keepServer`, `cancelAndUpdateItem`, `cancelAndDiscardItem` | the server's row; removed if there is none | removed | removed |
/// | `keepClient` | unchanged | sent again, to overwrite the row that the error shows | removed |
/// | `merge`, `keepAndUpdateItem` | the given item | as for `keepClient` | removed |
/// | `changeKind` | the given item, removed for a delete | as for `keepClient`, with the given kind | removed |
/// | `keepPending` | unchanged | unchanged | unchanged |
struct DecisionEffect {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    private let dialect: WireDialect
    /// When the user has decided; `nil` for a resolver's decision, which is no later change of the item.
    private let decidedAt: Timestamp?
    /// Receives the table if a row of it has to be pulled again.
    private let tablesToPull: TablesToPull?
    /// Removes the item with the rows that a foreign key of the app's database removes with it.
    private let removal: CascadedRemoval?
    /// The operation as it is stored now.
    let operation: TableOperation
    /// A newer change of the item that cannot be merged with the operation. A decision leaves it as it is, except for its
    /// base.
    let behind: TableOperation?
    private let error: TableOperationError

    /// Reads the failed operation, and merges it with an edit behind it: the error shows the item with that edit.
    ///
    /// - Throws: ``SyncError/Code/operationNotFound``; ``SyncError/Code/operationChanged`` when the user has changed the
    ///   item since the failure, or the operation is being sent.
    init(
        of error: TableOperationError, in transaction: any StoreTransaction, definition: SyncTableDefinition,
        dialect: WireDialect, inFlight: Set<Int64>, decidedAt: Timestamp? = nil,
        tablesToPull: TablesToPull? = nil, removal: CascadedRemoval? = nil
    ) throws {
        guard let operation = try transaction.operation(of: error) else {
            throw SyncError.operationNotFound(error.operationID)
        }
        guard operation.revision == error.revision, !inFlight.contains(operation.id) else {
            throw SyncError.operationChanged(error.operationID)
        }
        try AttemptCompletion(transaction: transaction, definition: definition, operationID: operation.id)
            .mergeBehind()
        guard let merged = try transaction.operation(id: operation.id) else {
            throw SyncError.operationChanged(error.operationID)
        }
        self.transaction = transaction
        self.definition = definition
        self.dialect = dialect
        self.decidedAt = decidedAt
        self.tablesToPull = tablesToPull
        self.removal = removal
        self.operation = merged
        self.error = error
        behind = try transaction.operation(behind: merged)
    }

    /// Applies a resolver's decision.
    func apply(_ decision: ConflictDecision) throws {
        switch decision {
        case .keepServer
        where error.serverItem == nil && (error.isUnexplainedInsert || operation.isUnconfirmed):
            throw SyncError(
                .invalidOperation,
                error.message + " The server has not shown its row: correct the item, or discard it.")
        case .keepServer: try keepServer(error.serverItem.map(definition.withoutLocalOnlyColumns))
        case .keepClient: try keepClient(nil)
        case .merge(var item):
            guard item.id.hasSameBytes(as: operation.itemID) else {
                throw SyncError(.invalidItemID, "The merged item must have the id '\(operation.itemID)'.")
            }
            item.content = try definition.normalizedForWriting(item.content)
            try keepClient(item)
        case .keepPending: break
        }
    }

    /// Returns the newest known state of the server's row, without columns that are local-only now.
    func newestServerItem() throws -> Item? {
        try newestKnownItem().map(definition.withoutLocalOnlyColumns)
    }

    private func newestKnownItem() throws -> Item? {
        guard let shown = error.serverItem else {
            // The server no longer has the row that the operation was made on, or never had it in this state.
            let hasNoBase = try error.code == .itemNotOnServer || isMadeOnSentItem()
            return hasNoBase ? operation.serverItem : operation.newestServerItem
        }
        return operation.keptRow(after: shown) ?? shown
    }

    /// Whether the base is what the device had sent before another client changed the row, as a lost response was proven: the
    /// item has the system properties of the later row that proved it.
    private func isMadeOnSentItem() throws -> Bool {
        let item =
            try transaction.readableItem(id: operation.itemID, in: definition)
            ?? operation.deletedItem(in: definition)
        guard let item, let base = operation.base else { return false }
        return item.isLater(than: base)
    }

    private func removeItem() throws {
        try transaction.deleteItems(ids: [operation.itemID], in: definition.name)
    }

    /// Stores the row as the item, with the local values of local-only columns that it lacks.
    ///
    /// Other fields that it lacks are removed, because no operation would send an edit that stayed.
    private func store(_ row: Item) throws {
        let local =
            try transaction.replaceableItem(id: row.id, in: definition)
            ?? operation.deletedItem(in: definition)
        let item = row.addingLocalOnlyColumns(of: local, definition: definition)
        try transaction.upsert([item], in: definition.name)
    }

    /// Removes the item as the server's row is gone or unknown. Rows that the app's database removes with it are pulled again.
    private func removeItemAndChildren() throws {
        guard let removal else { return try removeItem() }
        let removedFurtherRows = try removal.remove(in: transaction, tables: tablesToPull) {
            try removeItem()
            return 1
        }
        if removedFurtherRows { try transaction.recordRowToPull(in: definition.name, tablesToPull) }
    }

    /// Stores the row as the item. If the app's database has removed the item, and does not take the row because its parent is gone
    /// too, there is no item until the row is pulled again. A delete has removed its item itself.
    private func restore(_ row: Item) throws {
        if operation.kind == .delete { try removal?.recordRestoredRow(in: transaction, tablesToPull) }
        do { try store(row) } catch let error as StoreError where error.code == .schemaMismatch {
            guard operation.kind != .delete, try transaction.item(id: row.id, in: definition.name) == nil
            else { throw error }
            try transaction.recordRowToPull(in: definition.name, tablesToPull)
        }
    }

    /// Removes the operation and stores the app's item in place of the server's row. If it is made on the same version as the
    /// operation, or on none, it gets the version of the row that the error shows.
    func keepServer(replacedBy item: Item) throws {
        var item = item
        let version = item.system.version
        let isOfFormerRow = version.map { operation.version?.hasSameBytes(as: $0) == true } ?? true
        if let shown = error.serverItem, !shown.system.deleted, isOfFormerRow { item.system = shown.system }
        try keepServer(item)
    }

    /// Removes the operation and stores the server's row, or a later one that a pull has received. Removes the item if there is
    /// no row or it is unknown.
    func keepServer(_ row: Item?) throws {
        let row = row?.addingUndeclaredColumns(
            of: [error.serverItem, operation.serverItem, operation.base], for: dialect)
        try transaction.removeOperationAndError(id: operation.id)
        if let behind { return try keepNewerChange(behind) }
        let newest = row.map { operation.keptRow(after: $0) ?? $0 } ?? operation.serverItem
        if let newest, !newest.system.deleted { try restore(newest) } else { try removeItemAndChildren() }
        if row == nil, operation.kind != .insert, error.code != .itemNotOnServer {
            // Nothing shows the row that the server has: it is pulled again.
            try transaction.recordRowToPull(in: definition.name, tablesToPull)
        }
    }

    /// Keeps the operation, to overwrite the server's row in the state that the error shows. Sends the given
    /// item; without one, the operation's own change.
    func keepClient(_ item: Item?) throws {
        if item == nil, operation.kind == .delete { return try keep(kind: .delete, item: nil) }
        guard error.isConflict else { return try keep(kind: operation.kind, item: item) }
        let hasNoRow = error.serverItem == nil
        // Without a row on the server, an update becomes an insert, and an insert stays one: the server may refuse it for
        // another reason.
        try keep(kind: hasNoRow && operation.kind != .delete ? .insert : .update, item: item)
    }

    /// Keeps the operation as an operation of this kind, made on the server's row.
    func keep(kind: TableOperation.Kind, item: Item?) throws {
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        let server = error.serverItem.map(definition.withoutLocalOnlyColumns)
        if let behind {
            if kind == .delete, operation.kind == .delete, server == nil { return try sendAgain() }
            try transaction.removeOperationAndError(id: operation.id)
            return try keepNewerChange(behind)
        }
        if kind == .delete, operation.kind == .insert, server == nil, !operation.mayBeOnServer {
            // The server does not have the row, so there is nothing to delete. It may have another row of that id later.
            return try keepServer(operation.serverItem)
        }
        var kept = operation
        kept.kind = kind
        kept.changedAt = decidedAt ?? operation.changedAt
        kept = kept.rebased(on: server ?? operation.base)
        if let server {
            kept.serverItem = operation.keptRow(after: server)
        } else {
            (kept.serverItem, kept.version) = (operation.serverItem, operation.version)
        }
        if server == nil || kind == .insert && operation.kind == .insert {
            // Nothing new is known of the row, or it may be the insert's: an attempt that may have been applied must still be
            // proven.
            kept.sent = operation.sent
            kept.state = kept.isAmbiguous ? .attempted : .pending
        }
        // Still follows this client's own delete, unless the server shows a live row.
        let followsDelete = operation.replaces && (server?.system.deleted ?? true)
        kept.replaces =
            switch kind {
            case .insert: operation.kind == .insert && followsDelete
            case .update: kept.sent?.kind == .delete || followsDelete
            case .delete: false
            }
        kept.isAdopted = operation.isAdopted && operation.kind == .insert && server == nil
        kept.deletedItem = nil
        if kind == .insert {
            // An insert has no base: the row that a pull has received stays in `serverItem`.
            (kept.base, kept.version, kept.serverItem) = (nil, nil, operation.serverItem)
        }
        if kind == .delete {
            kept.deletedItem = item ?? local ?? operation.deletedItem(in: definition)
            try removeItem()
        } else {
            if operation.kind == .delete { try removal?.recordRestoredRow(in: transaction, tablesToPull) }
            guard var stored = item ?? local ?? operation.deletedItem(in: definition) else {
                throw SyncError(.expectedItem, "There is no stored item to send; pass an item.")
            }
            let current = local ?? operation.deletedItem(in: definition)
            stored = stored.addingLocalOnlyColumns(of: current, definition: definition)
            if operation.kind == .insert || operation.base != nil, !followsDelete, let server {
                // Fields that the device never had are not removed by its change.
                server.content.forEach { name, value in
                    guard operation.base?.content[name] == nil, stored.content[name] == nil else { return }
                    stored.content[name] = value
                }
            }
            // Not the given item's, which may be an older copy. An item that was deleted and inserted again has no version.
            let known = current?.system.version == nil ? kept.base ?? current : current
            stored.system = (server ?? known)?.system ?? SystemProperties()
            stored.system.deleted = false
            // An attempt may have sent them, and is repeated.
            if server == nil { stored.system.undeclared.merge(current?.system.undeclared ?? [:]) { $1 } }
            stored = stored.recordingRemovedColumns(of: current, definition: definition)
            if kind == .insert {
                // The response to the insert shows which undeclared columns the new row has.
                stored.system = SystemProperties(undeclared: current?.system.undeclaredValues ?? [:])
            }
            try transaction.upsert([stored], in: definition.name)
        }
        try transaction.put(kept)
        try transaction.removeOperationError(operationID: operation.id)
    }

    /// Keeps the operation as it is: whether the server has applied it is not known yet.
    private func sendAgain() throws {
        var kept = operation
        kept.unpark()
        kept.revision += 1
        try transaction.put(kept)
        try transaction.removeOperationError(operationID: operation.id)
    }

    /// Rebases the newer change behind the operation on the row that the error shows, that the operation was made on, or
    /// that the device itself has left on the server; the item on the device stays as it is.
    ///
    /// A decision is about the operation only; it leaves this newer change as it is, except for its base. A later row, which
    /// the error does not show, is a conflict of the newer change.
    private func keepNewerChange(_ behind: TableOperation) throws {
        let shown = error.serverItem.map(definition.withoutLocalOnlyColumns)
        let completion = AttemptCompletion(
            transaction: transaction, definition: definition, operationID: behind.id)
        guard let row = shown ?? operation.base ?? operation.rowLeftByClient(definition),
            !row.system.deleted
        else { return try completion.applier.applyKeptRow(of: operation) }
        try completion.replace(row, with: behind)
        try completion.applier.applyKeptRow(of: operation, ifLaterThan: row)
    }
}

extension StoreSnapshot {
    /// Returns the operation that the error is about. The error of another store can have the id of an operation of this one.
    func operation(of error: TableOperationError) throws -> TableOperation? {
        guard let operation = try operation(id: error.operationID),
            operation.table.hasSameBytes(as: error.table),
            operation.itemID.hasSameBytes(as: error.itemID)
        else { return nil }
        return operation
    }
}

extension TableOperationError {
    /// Whether the server has answered an insert with a conflict. If it has no row with the id, or does not show it, it may
    /// refuse the insert for another reason, such as a value that must be unique: a resolver must not remove the only copy.
    fileprivate var isUnexplainedInsert: Bool { kind == .insert && isConflict }
}

extension SyncError {
    package static func operationNotFound(_ id: Int64) -> SyncError {
        SyncError(
            .operationNotFound,
            "Operation \(id) is no longer pending: it was completed or removed, or its error was resolved already. Nothing "
                + "was changed.")
    }

    static func operationChanged(_ id: Int64) -> SyncError {
        SyncError(
            .operationChanged,
            "Operation \(id) has changed since it failed, or is being sent. Push again, then resolve the new error."
        )
    }
}
