// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a failed operation is settled, inside one transaction.
struct OperationResolution {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    /// The operation as it is in the queue now.
    let operation: TableOperation
    /// A newer change of the item, which no decision about the operation touches.
    private let behind: TableOperation?
    private let error: TableOperationError

    /// Finds the operation that failed, and refuses when the user has changed the item since.
    init(
        of error: TableOperationError, in transaction: any StoreTransaction, definition: SyncTableDefinition,
        inFlight: Set<Int64>
    ) throws {
        guard let operation = try transaction.operation(id: error.operationID) else {
            throw SyncError.operationNotFound(error.operationID)
        }
        guard operation.revision == error.revision, !inFlight.contains(operation.id) else {
            throw SyncError.operationChanged(error.operationID)
        }
        self.transaction = transaction
        self.definition = definition
        self.operation = operation
        self.error = error
        behind = try transaction.operations(forItem: operation.itemID, in: operation.table).first {
            $0.id > operation.id
        }
    }

    /// The newest state of the server's row that is known. Columns that are local-only now are the device's, and left
    /// out.
    var newestServerItem: Item? { newestKnownItem.map(definition.withoutLocalColumns) }

    private var newestKnownItem: Item? {
        guard let shown = error.serverItem else {
            // If the server has lost the row, nobody has the one that the operation was made on.
            return error.code == .itemNotOnServer ? operation.serverItem : operation.newestServerItem
        }
        guard let pulled = operation.serverItem, pulled.isLater(than: shown) else { return shown }
        return pulled
    }

    func removeOperation() throws {
        try transaction.removeOperation(id: operation.id)
        try transaction.removeOperationError(operationID: operation.id)
    }

    func removeItem() throws {
        try transaction.deleteItems(ids: [operation.itemID], in: definition.name)
    }

    /// Stores the item, with the local-only columns of the one on the device where it has none of its own.
    ///
    /// A field that it lacks goes: otherwise an edit would stay that no operation speaks of any more.
    func store(_ item: Item) throws {
        let local = try transaction.item(id: item.id, in: definition.name) ?? operation.deletedItem
        try transaction.upsert([withLocalColumns(item, of: local)], in: definition.name)
    }

    private func withLocalColumns(_ item: Item, of local: Item?) -> Item {
        var item = item
        for column in definition.columns where column.isLocalOnly && item.fields[column.name] == nil {
            item.fields[column.name] = local?.fields[column.name]
        }
        return item
    }

    /// Drops the operation for the server's row, or for none if the server has none.
    func keepServer(_ row: Item?) throws {
        try removeOperation()
        if let behind { return try keepNewerChange(behind, on: row) }
        if let row, !row.system.deleted { try store(row) } else { try removeItem() }
        // A later state that a pull has brought will not come again.
        if let row, let later = operation.serverItem, later.isLater(than: row) {
            _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(later)
        }
    }

    /// Lets the operation overrule the server's row as the error shows it: sends the item if there is one, else
    /// what the operation was to do.
    func keepClient(_ item: Item?) throws {
        if item == nil, operation.kind == .delete { return try keep(kind: .delete, item: nil) }
        guard error.isConflict else { return try keep(kind: operation.kind, item: item) }
        let isUnknown = error.serverItem == nil
        // An update that finds no row has to create it; an insert that is refused although no row shows has met a
        // tombstone, which has to be undeleted first.
        try keep(kind: isUnknown && operation.kind == .update ? .insert : .update, item: item)
    }

    /// Keeps the operation as one of this kind, made on the server's row.
    func keep(kind: TableOperation.Kind, item: Item?) throws {
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        let server = serverItem(for: kind)
        if let behind {
            try removeOperation()
            return try keepNewerChange(behind, on: server ?? operation.newestServerItem)
        }
        var kept = operation
        kept.kind = kind
        kept = kept.rebased(on: server ?? operation.base)
        if let server {
            if let later = operation.serverItem, later.isLater(than: server) { kept.serverItem = later }
        } else {
            // Nothing new is known of the row: an attempt that may have been applied stays to be proven.
            (kept.serverItem, kept.sent) = (operation.serverItem, operation.sent)
            kept.state = kept.isAmbiguous ? .attempted : .pending
        }
        kept.replaces = false
        kept.isAdopted = false
        kept.deletedItem = nil
        if kind == .insert { (kept.base, kept.version) = (nil, nil) }
        if kind == .delete {
            kept.deletedItem = item ?? local ?? operation.deletedItem
            try removeItem()
        } else {
            guard var stored = item ?? local ?? operation.deletedItem else {
                throw SyncError(.expectedItem, "There is no item to send; give one.")
            }
            stored = withLocalColumns(stored, of: local ?? operation.deletedItem)
            if operation.kind == .insert, let server {
                // What the device never had it cannot mean to remove.
                stored.fields.merge(server.fields) { ours, _ in ours }
            }
            stored.system = server?.system ?? stored.system
            stored.system.deleted = false
            if kind == .insert { stored.system = SystemProperties() }
            try transaction.upsert([stored], in: definition.name)
        }
        try transaction.put(kept)
        try transaction.removeOperationError(operationID: operation.id)
    }

    /// A decision about an operation decides on what row the newer change behind it is made, and no more: the item on
    /// the device is that of the newer change.
    private func keepNewerChange(_ behind: TableOperation, on row: Item?) throws {
        guard let row, !row.system.deleted else { return }
        let effects = AttemptCompletion(
            transaction: transaction, definition: definition, operationID: behind.id)
        try effects.replace(row, with: behind)
    }

    private func serverItem(for kind: TableOperation.Kind) -> Item? {
        if let shown = error.serverItem { return definition.withoutLocalColumns(shown) }
        guard kind == .update, operation.kind == .insert, error.isConflict else { return nil }
        return Item(id: operation.itemID, system: SystemProperties(deleted: true))
    }
}

extension OperationResolution {
    /// Carries out a resolver's decision.
    func carryOut(_ decision: ConflictDecision) throws {
        switch decision {
        case .keepServer: try keepServer(error.serverItem.map(definition.withoutLocalColumns))
        case .keepClient: try keepClient(nil)
        case .merge(var item):
            guard item.id.hasSameBytes(as: operation.itemID) else {
                throw SyncError(.invalidItemID, "A merged item must keep its id '\(operation.itemID)'.")
            }
            item.fields = try definition.normalizedForWriting(item.fields)
            try keepClient(item)
        case .keepPending: break
        }
    }
}

extension SyncError {
    static func operationNotFound(_ id: Int64) -> SyncError {
        SyncError(.operationNotFound, "Operation \(id) is no longer pending; there is nothing to resolve.")
    }

    static func operationChanged(_ id: Int64) -> SyncError {
        SyncError(.operationChanged, "Operation \(id) has changed since it failed; push again first.")
    }
}
