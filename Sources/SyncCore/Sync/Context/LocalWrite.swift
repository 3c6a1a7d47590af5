// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A local change of one item, inside a store transaction: it writes the item and its operation together.
struct LocalWrite {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    let inFlight: InFlightSnapshot
    /// When the change is made, by the client's clock.
    let now: Timestamp

    /// Inserts an item; the fields are normalized.
    func insert(id: String, fields: ItemFields) throws -> Item {
        let item = Item(id: id, content: fields)
        let pending = try transaction.operations(forItem: id, in: definition.name)
        let outcome = collapse(.insert, into: pending)
        // Refused before the first write: a caller may catch the error and continue the transaction.
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
        try apply(outcome, id: id, first: pending.first, before: nil) { _ in }
        return item
    }

    /// Replaces all fields of an item; the fields are normalized.
    ///
    /// - Parameter original: the values that the changed fields had in the app's copy; `nil` if they are not known.
    func replace(
        id: String, fields: ItemFields, madeOn copy: SystemProperties,
        changing original: [String: ItemValue]? = nil
    ) throws -> Item {
        try update(id: id, madeOn: copy, changing: original) { $0.content = fields }
    }

    /// Changes some fields of an item; the fields are normalized.
    func change(id: String, fields: ItemFields) throws -> Item {
        try update(id: id, madeOn: nil) { $0.content.merge(fields) }
    }

    /// Deletes an item.
    func delete(id: String, madeOn copy: SystemProperties?) throws {
        let item = try existing(id)
        let first = try enqueue(.delete, id: id, before: item) { operation in
            operation.deletedItem = item
            operation.setOlderCopy(copy, of: item)
        }
        try transaction.deleteItems(ids: [id], in: definition.name)
        try applyKeptRow(of: first)
    }

    /// Queues a change that is in the table already, of an item whose earlier state is unknown.
    func recordChange(id: String) throws {
        let item = try existing(id)
        let pending = try transaction.operations(forItem: id, in: definition.name)
        let last = pending.last
        if last?.kind == .delete {
            // The app has inserted the item again.
            try enqueue(.insert, id: id, before: nil) { _ in }
            return
        }
        // An item that was inserted again has nothing of its former row.
        if let last, last.kind == .update, !last.replaces, last.formerRow == nil,
            let base = last.base ?? pending.first?.base
        {
            // The update drops its base below. Without it, these edits would look like the server's values.
            try transaction.removeUndeclaredEdits(
                of: item, since: base, sent: pending.first?.sent, definition: definition)
        }
        let isKnown = item.system.isOfServer || last != nil
        try enqueue(isKnown ? .update : .insert, id: id, before: nil) { operation in
            guard operation.kind == .update else { return }
            // The item can have the version of a row that is in conflict with the operation.
            if operation.version == nil, operation.serverItem == nil {
                operation.version = item.system.version
            }
            // The base of a pending update may have the change already. The whole item is sent without one.
            if !operation.undeletes { operation.base = nil }
        }
    }

    /// Queues the deletion of an item that is no longer in the table.
    ///
    /// - Parameter isCurrent: whether the row was like this when this transaction began. If the app has deleted it in an
    ///   earlier one, a pull may have received a later row meanwhile. The server's row is unknown then.
    func recordDeletion(of item: Item, isCurrent: Bool) throws {
        guard try transaction.item(id: item.id, in: definition.name) == nil else {
            throw SyncError(
                .invalidOperation,
                "The item '\(item.id)' is still in '\(definition.name)'; delete it there first.")
        }
        // A push may have completed the insert since the app read the item. The row's version is unknown then.
        let before = item.system.isOfServer && isCurrent ? item : nil
        let first = try enqueue(.delete, id: item.id, before: before) { operation in
            operation.deletedItem = item
            if operation.version == nil { operation.version = item.system.version }
        }
        try applyKeptRow(of: first)
    }

    /// Applies the row that was stored with the item's first operation, if the deletion has removed all operations.
    private func applyKeptRow(of first: TableOperation?) throws {
        guard let first, first.serverItem != nil,
            try transaction.operations(forItem: first.itemID, in: definition.name).isEmpty
        else { return }
        try ServerRowApplier(transaction: transaction, definition: definition).applyKeptRow(of: first)
    }

    private func update(
        id: String, madeOn copy: SystemProperties?, changing original: [String: ItemValue]? = nil,
        _ change: (inout Item) -> Void
    ) throws -> Item {
        let before = try existing(id)
        var item = before
        change(&item)
        // An edit of an older copy can set the value that the stored item already has. A counter has to count it all the same.
        if original?.isEmpty ?? true, definition.differOnlyLocally(item, before) {
            try transaction.upsert([item], in: definition.name)
            try refuseEarlierDecisions(about: id)
            return item
        }
        // Another process that does not declare the column may have stored its value as undeclared.
        for name in before.system.undeclared.keys
        where definition.syncs(name) && item.content[name] != before.content[name] {
            item.system.undeclared[name] = nil
        }
        try enqueue(.update, id: id, before: before) { operation in
            operation.setOlderCopy(copy, of: before)
            operation.setOriginal(original, of: before)
        }
        try transaction.upsert([item], in: definition.name)
        return item
    }

    /// Increases the revision of an operation that the app or a resolver may decide about with the former item.
    private func refuseEarlierDecisions(about id: String) throws {
        guard var first = try transaction.operations(forItem: id, in: definition.name).first,
            try inFlight.contains(first) || first.serverItem != nil
                || transaction.operationError(operationID: first.id) != nil
        else { return }
        first.revision += 1
        try transaction.put(first)
    }

    private func existing(_ id: String) throws -> Item {
        guard let item = try transaction.item(id: id, in: definition.name) else {
            throw SyncError(
                .itemNotFound,
                "There is no item '\(id)' in '\(definition.name)': it was deleted, or never inserted.")
        }
        return item
    }

    /// Collapses the change into the item's pending operations.
    ///
    /// - Parameter configure: sets further properties of the new or replaced operation.
    /// - Returns: the item's first operation, as it was before.
    @discardableResult
    private func enqueue(
        _ change: TableOperation.Kind, id: String, before: Item?, _ configure: (inout TableOperation) -> Void
    ) throws -> TableOperation? {
        let pending = try transaction.operations(forItem: id, in: definition.name)
        try apply(
            collapse(change, into: pending), id: id, first: pending.first, before: before, configure)
        return pending.first
    }

    private func collapse(_ change: TableOperation.Kind, into pending: [TableOperation]) -> CollapseOutcome {
        guard let first = pending.first else { return .append(change) }
        return TableOperation.collapse(
            change, into: pending, isInFlight: inFlight.queues(change, behind: first))
    }

    private func apply(
        _ outcome: CollapseOutcome, id: String, first: TableOperation?, before: Item?,
        _ configure: (inout TableOperation) -> Void
    ) throws {
        switch outcome {
        case .append(let kind):
            let base = kind == .insert ? nil : before.map(definition.withoutLocalOnlyColumns)
            let operation = TableOperation(
                id: try transaction.nextOperationID(), table: definition.name, itemID: id, kind: kind,
                base: base, version: base?.system.version)
            try put(operation, behind: first, configure)
        case .replace(let operation):
            try put(operation, behind: first, configure)
        case .remove(let operationID):
            try countChange(of: operationID, behind: first)
            try transaction.removeOperationAndError(id: operationID)
        case .nothing:
            break
        case .refuse(let code, let message):
            throw SyncError(code, message)
        }
    }

    private func put(
        _ operation: TableOperation, behind first: TableOperation?,
        _ configure: (inout TableOperation) -> Void
    ) throws {
        var operation = operation
        configure(&operation)
        operation.changedAt = now
        try countChange(of: operation.id, behind: first)
        try transaction.put(operation)
    }

    /// Increases the revision of the operation before this one, so that a resolution made before this change
    /// is refused, and unparks it, as each edit of its item does.
    private func countChange(of operationID: Int64, behind first: TableOperation?) throws {
        guard var first, first.id < operationID else { return }
        first.revision += 1
        if first.isParked { first.unpark() }
        try transaction.put(first)
    }
}
