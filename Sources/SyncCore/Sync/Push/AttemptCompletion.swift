// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What an attempt changes in the store, each function inside one transaction.
struct AttemptCompletion {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    let operationID: Int64

    /// The server has it: stores the row, and rebases on it whatever the user has done since.
    ///
    /// - Parameters:
    ///   - row: the server's row; `nil` when it is gone.
    ///   - sent: what the server was told, from which edits made since are told apart.
    ///   - known: the pulled row that waited with the operation when it was sent.
    ///   - isProven: whether the row was found after an attempt with unknown outcome, so that others may have changed it
    ///     since: what they changed is then no version of this client's own.
    /// - Returns: the item as it is stored now.
    func complete(
        with row: Item?, sent: TableOperation.SentSnapshot, known: Item? = nil, isProven: Bool = false
    ) throws -> Item? {
        guard let operation = try transaction.operation(id: operationID) else { return nil }
        let behind = try operationBehind(operation)
        try transaction.removeOperation(id: operationID)
        try transaction.removeOperationError(operationID: operationID)
        guard let row, !row.system.deleted else {
            if behind == nil { try transaction.deleteItems(ids: [operation.itemID], in: definition.name) }
            // A pull may have seen the row come back to life while the answer was on its way.
            if let later = operation.serverItem, later != known, !later.system.deleted {
                _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(later)
            }
            return nil
        }
        return try settle(operation, behind: behind, row: row, sent: sent, isProven: isProven)
    }

    /// Removes an operation that has nothing left to tell the server, and stores what a pull brought meanwhile.
    func dropUnneeded() throws -> Item? {
        guard let operation = try transaction.operation(id: operationID) else { return nil }
        try transaction.removeOperation(id: operationID)
        try transaction.removeOperationError(operationID: operationID)
        // The server never heard of an insert without an item: it need not hear of the delete either.
        if operation.kind == .insert, let behind = try operationBehind(operation), behind.kind == .delete {
            try transaction.removeOperation(id: behind.id)
            try transaction.removeOperationError(operationID: behind.id)
        }
        if let later = operation.serverItem {
            _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(later)
        }
        return try transaction.item(id: operation.itemID, in: definition.name)
    }

    private func settle(
        _ operation: TableOperation, behind: TableOperation?, row: Item, sent: TableOperation.SentSnapshot,
        isProven: Bool
    ) throws -> Item? {
        if let behind, behind.kind == .insert {
            try replace(row, with: behind)
            return try transaction.item(id: operation.itemID, in: definition.name)
        }
        let known = operation.base.map(definition.syncedFields) ?? [:]
        let ancestor = known.merging(sent.fields) { _, sent in sent }
        var base = definition.withoutLocalOnlyColumns(row)
        // Columns that the server does not know would otherwise look like edits for ever.
        base.fields.merge(ancestor) { known, _ in known }
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        if let local {
            var merged = row.merged(over: local, ancestor: ancestor, definition: definition)
            merged.system.supersededVersions =
                isProven && !definition.isShown(ancestor, as: row)
                ? [] : Self.superseded(local.system, by: row.system)
            try transaction.upsert([merged], in: definition.name)
        }
        if let next = behind ?? Self.followUp(of: operation, local: local, ancestor: ancestor, definition) {
            var rebased = next.rebased(on: base)
            // A copy that was older than the row when the app stored it stays so: the server reports the conflict.
            if let version = next.olderVersion, sent.version != version { rebased.version = version }
            try transaction.put(rebased)
        }
        // A pull may have brought a later state while the answer was on its way.
        if let later = operation.serverItem, later.isLater(than: row) {
            let page = ServerRowApplier(transaction: transaction, definition: definition)
            _ = try page.apply(later)
        }
        return try transaction.item(id: operation.itemID, in: definition.name)
    }

    /// Lets a change replace the server's row: the item on the device stays as it is, and is sent on the row's version.
    func replace(_ row: Item, with change: TableOperation) throws {
        var next = change
        next.kind = .update
        next = next.rebased(on: definition.withoutLocalOnlyColumns(row))
        next.replaces = true
        if var local = try transaction.item(id: change.itemID, in: definition.name) {
            local.system = row.system
            try transaction.upsert([local], in: definition.name)
        }
        try transaction.put(next)
    }

    /// The operation that remains when the user has edited the item after an attempt that is only now known to have
    /// succeeded; `nil` when he has not.
    private static func followUp(
        of operation: TableOperation, local: Item?, ancestor: [String: ItemValue],
        _ definition: SyncTableDefinition
    ) -> TableOperation? {
        var next = operation
        if let local {
            let edited = definition.syncedFields(of: local)
            let names = Set(edited.keys).union(ancestor.keys)
            guard names.contains(where: { (edited[$0] ?? .null) != (ancestor[$0] ?? .null) }) else {
                return nil
            }
            next.kind = .update
        } else {
            guard operation.kind == .delete else { return nil }
        }
        return next
    }

    private static func superseded(_ local: SystemProperties, by row: SystemProperties) -> [String] {
        guard let previous = local.version, let version = row.version, !previous.hasSameBytes(as: version)
        else {
            return local.supersededVersions
        }
        return (local.supersededVersions + [previous]).suffix(SystemProperties.maxSupersededVersions)
    }

    /// The attempt failed: notes how far that got, and merges what was queued behind the operation.
    ///
    /// - Parameters:
    ///   - isApplied: `false` when the server has definitely not applied any attempt; `nil` when nobody knows.
    ///   - status: the HTTP status of the answer, if there was one.
    ///   - limit: after how many refusals the operation is parked; `nil` when this was none.
    /// - Returns: the operation as it is now; `nil` when it has merged with a later one into nothing.
    func fail(isApplied: Bool?, status: Int?, parkingAfter limit: Int?) throws -> TableOperation? {
        guard var operation = try transaction.operation(id: operationID) else { return nil }
        operation.lastStatus = status
        operation.state = isApplied == false ? .pending : .attempted
        if isApplied == false { operation.sent = nil }
        if let limit { operation.countRefusal(parkingAfter: limit) }
        try transaction.put(operation)
        try mergeBehind()
        return try transaction.operation(id: operationID)
    }

    /// Merges an operation that is not on its way any more with what was queued behind it meanwhile.
    func mergeBehind() throws {
        guard let operation = try transaction.operation(id: operationID),
            let behind = try operationBehind(operation)
        else { return }
        try merge(operation, with: behind)
    }

    private func merge(_ operation: TableOperation, with behind: TableOperation) throws {
        switch TableOperation.merge(operation, with: behind) {
        case .replace(let merged):
            try transaction.put(merged)
            try transaction.removeOperation(id: behind.id)
            try transaction.removeOperationError(operationID: behind.id)
        case .remove(let id):
            try transaction.removeOperation(id: id)
            try transaction.removeOperationError(operationID: id)
            try transaction.removeOperation(id: behind.id)
            try transaction.removeOperationError(operationID: behind.id)
            // A row that a pull has brought beside them does not come again.
            if let row = operation.serverItem {
                _ = try ServerRowApplier(transaction: transaction, definition: definition).apply(row)
            }
        case .append, .nothing, .refuse:
            break
        }
    }

    func operationBehind(_ operation: TableOperation) throws -> TableOperation? {
        try transaction.operations(forItem: operation.itemID, in: operation.table).first {
            $0.id > operation.id
        }
    }
}

extension TableOperation {
    /// The same change made on a newer row: never sent, no attempts, no conflict with that row.
    func rebased(on row: Item?) -> TableOperation {
        var rebased = self
        if kind != .insert {
            rebased.base = row
            rebased.version = row?.system.version
        }
        rebased.serverItem = nil
        rebased.sent = nil
        rebased.state = .pending
        rebased.attempts = 0
        rebased.revision += 1
        return rebased
    }
}

extension SyncTableDefinition {
    /// Whether a server that was left with these fields shows this row.
    fileprivate func isShown(_ fields: [String: ItemValue], as row: Item) -> Bool {
        columns.allSatisfy { column in
            let (sent, shown) = (fields[column.name] ?? .null, row.fields[column.name] ?? .null)
            return column.isLocalOnly || sent.isShown(as: shown)
        }
    }
}
