// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A change that the app makes to one item, as it happens inside a store transaction: item and operation together.
struct LocalWrite {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    /// Operations that are being sent right now.
    let inFlight: Set<Int64>
    /// When the change is made, by the client's clock.
    let now: Timestamp
    /// Whether an attempt whose outcome is unknown may be on its way, because another process could be sending it.
    var mayAttemptsBeInFlight = false

    /// Adds a new item; the fields are normalised already.
    func insert(id: String, fields: [String: ItemValue]) throws -> Item {
        let item = Item(id: id, fields: fields)
        let pending = try transaction.operations(forItem: id, in: definition.name)
        let outcome = collapse(.insert, into: pending)
        // A change that is refused leaves nothing behind.
        if case .refuse(let code, let message) = outcome,
            try transaction.item(id: id, in: definition.name) == nil
        {
            throw SyncError(code, message)
        }
        guard try transaction.insert(item, in: definition.name) else {
            throw SyncError(
                .itemAlreadyExists,
                "There is already an item '\(id)' in '\(definition.name)'; update it instead.")
        }
        try carryOut(outcome, id: id, behind: pending.first, before: nil) { _ in }
        return item
    }

    /// Puts the item in place of the one of its id; the fields are normalised already.
    func replace(id: String, fields: [String: ItemValue], madeOn version: String?) throws -> Item {
        try update(id: id, madeOn: version) { $0.fields = fields }
    }

    /// Changes some fields of an item; they are normalised already.
    func change(id: String, fields: [String: ItemValue]) throws -> Item {
        try update(id: id, madeOn: nil) { $0.fields.merge(fields) { _, new in new } }
    }

    /// Deletes an item.
    func delete(id: String, madeOn version: String?) throws {
        let item = try existing(id)
        let first = try queue(.delete, id: id, before: item) { operation in
            operation.deletedItem = item
            operation.adopt(version, madeOn: item)
        }
        try transaction.deleteItems(ids: [id], in: definition.name)
        try showServerItem(of: first)
    }

    /// Queues a change that is in the table already, of a row whose earlier state nobody knows.
    func recordChange(id: String) throws {
        let item = try existing(id)
        let isKnown =
            try item.system.version != nil
            || !transaction.operations(forItem: id, in: definition.name).isEmpty
        try queue(isKnown ? .update : .insert, id: id, before: nil) { operation in
            if operation.kind == .update, operation.base == nil { operation.version = item.system.version }
        }
    }

    /// Queues a deletion that has happened already.
    func recordDeletion(of item: Item) throws {
        guard try transaction.item(id: item.id, in: definition.name) == nil else {
            throw SyncError(
                .invalidOperation,
                "The item '\(item.id)' of '\(definition.name)' is still there; delete it instead.")
        }
        guard
            try item.system.version != nil
                || !transaction.operations(forItem: item.id, in: definition.name).isEmpty
        else { return }
        let first = try queue(.delete, id: item.id, before: item) { $0.deletedItem = item }
        try showServerItem(of: first)
    }

    /// Stores the row that a pull has brought beside an operation that has vanished since: it does not come again.
    private func showServerItem(of first: TableOperation?) throws {
        guard let first, let row = first.serverItem,
            try transaction.operations(forItem: first.itemID, in: definition.name).isEmpty
        else { return }
        _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(row)
    }

    private func update(id: String, madeOn version: String?, _ change: (inout Item) -> Void) throws -> Item {
        let before = try existing(id)
        var item = before
        change(&item)
        try queue(.update, id: id, before: before) { $0.adopt(version, madeOn: before) }
        try transaction.upsert([item], in: definition.name)
        return item
    }

    private func existing(_ id: String) throws -> Item {
        guard let item = try transaction.item(id: id, in: definition.name) else {
            throw SyncError(.itemNotFound, "There is no item '\(id)' in '\(definition.name)'.")
        }
        return item
    }

    /// Joins the change with the item's pending operations.
    ///
    /// - Returns: the first of these, as it was before.
    @discardableResult
    private func queue(
        _ change: TableOperation.Kind, id: String, before: Item?, _ complete: (inout TableOperation) -> Void
    ) throws -> TableOperation? {
        let pending = try transaction.operations(forItem: id, in: definition.name)
        try carryOut(
            collapse(change, into: pending), id: id, behind: pending.first, before: before, complete)
        return pending.first
    }

    private func collapse(_ change: TableOperation.Kind, into pending: [TableOperation]) -> CollapseOutcome {
        let isInFlight =
            pending.first.map {
                inFlight.contains($0.id) || (mayAttemptsBeInFlight && $0.state == .attempted)
            } ?? false
        return TableOperation.collapse(change, into: pending, isInFlight: isInFlight)
    }

    /// - Parameter first: the item's first pending operation.
    private func carryOut(
        _ outcome: CollapseOutcome, id: String, behind first: TableOperation?, before: Item?,
        _ complete: (inout TableOperation) -> Void
    ) throws {
        switch outcome {
        case .append(let kind):
            var operation = TableOperation(
                id: try transaction.lastOperationID() + 1, table: definition.name, itemID: id, kind: kind)
            if kind != .insert { operation.base = before.map(definition.withoutLocalColumns) }
            operation.version = operation.base?.system.version
            complete(&operation)
            operation.changedAt = now
            try countChange(of: operation.id, behind: first)
            try transaction.put(operation)
        case .replace(var operation):
            complete(&operation)
            operation.changedAt = now
            try countChange(of: operation.id, behind: first)
            try transaction.put(operation)
        case .remove(let operationID):
            try countChange(of: operationID, behind: first)
            try transaction.removeOperation(id: operationID)
            try transaction.removeOperationError(operationID: operationID)
        case .nothing:
            break
        case .refuse(let code, let message):
            throw SyncError(code, message)
        }
    }
}

extension LocalWrite {
    /// Counts up the revision of the operation that this one stands behind, so that a decision about it which has not
    /// seen this change is refused.
    private func countChange(of operationID: Int64, behind first: TableOperation?) throws {
        guard var first, first.id < operationID else { return }
        first.revision += 1
        try transaction.put(first)
    }
}

extension TableOperation {
    /// Notes the version that the app's copy of the item had.
    ///
    /// Usually it is the row's, or one that our own pushes have replaced since. Any other means that the copy is
    /// older than a change that came from the server; sending that version lets the server report the conflict.
    fileprivate mutating func adopt(_ version: String?, madeOn item: Item) {
        guard kind != .insert, let version, let current = item.system.version,
            !version.hasSameBytes(as: current),
            !item.system.supersededVersions.contains(where: version.hasSameBytes)
        else { return }
        self.version = version
    }
}

extension SyncTableDefinition {
    /// The item as the server could have it.
    func withoutLocalColumns(_ item: Item) -> Item {
        var copy = item
        copy.fields = sentFields(of: item)
        return copy
    }
}
