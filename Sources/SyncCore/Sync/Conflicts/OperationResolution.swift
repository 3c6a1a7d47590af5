// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a failed operation is settled, inside one transaction.
struct OperationResolution {
    let transaction: any StoreTransaction
    let definition: TableDefinition
    /// The operation as it is in the queue now.
    let operation: TableOperation
    private let error: TableOperationError

    /// Finds the operation that failed, and refuses when it is not what it was.
    init(
        of error: TableOperationError, in transaction: any StoreTransaction, definition: TableDefinition,
        inFlight: Set<Int64>
    ) throws {
        guard let operation = try transaction.operation(id: error.operationID) else {
            throw SyncError(
                .operationNotFound,
                "Operation \(error.operationID) is no longer pending; there is nothing to resolve.")
        }
        guard operation.revision == error.revision, !inFlight.contains(operation.id) else {
            throw SyncError(
                .operationChanged,
                "Operation \(error.operationID) has changed since it failed; push again first.")
        }
        self.transaction = transaction
        self.definition = definition
        self.operation = operation
        self.error = error
    }

    /// The newest state of the server's row that anybody told us.
    var newestServerItem: Item? {
        guard let shown = error.serverItem else { return operation.newestServerItem }
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

    /// Stores the item as the server's, with the local-only columns of the one on the device.
    func store(_ item: Item) throws {
        let local = try transaction.item(id: item.id, in: definition.name) ?? operation.deletedItem
        try transaction.upsert(
            [item.keepingLocalColumns(of: local, definition: definition)], in: definition.name)
    }

    /// Keeps the operation as one of this kind, made on the server's row.
    func keep(kind: TableOperation.Kind, item: Item?) throws {
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        var kept = operation
        kept.kind = kind
        kept.deletedItem = nil
        let server = error.serverItem.map(definition.withoutLocalColumns)
        kept = kept.rebased(on: server ?? operation.base)
        kept.replaces = false
        if kind == .insert { (kept.base, kept.version) = (nil, nil) }
        if kind == .delete {
            kept.deletedItem = item ?? local ?? operation.deletedItem
            try removeItem()
        } else {
            guard var stored = item ?? local ?? operation.deletedItem else {
                throw SyncError(.expectedItem, "There is no item to send; give one.")
            }
            stored.system = server?.system ?? stored.system
            if kind == .insert { stored.system = SystemProperties() }
            try transaction.upsert([stored], in: definition.name)
        }
        try transaction.put(kept)
        try transaction.removeOperationError(operationID: operation.id)
    }
}
