// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// A server's row never overwrites an item that has a pending operation. It is stored with the operation, in
// `serverItem`. When the operation is removed and its change has not replaced the row on the server, the row
// is applied, because no later pull returns it.

extension ServerRowApplier {
    /// Stores the row with the item's pending operation, unless the operation was made on this row or a later one.
    func keep(_ row: Item, with operation: TableOperation) throws -> Outcome {
        let known =
            try operation.serverItem
            ?? operation.rowMadeOn(
                operation.hasUnknownBase ? transaction.readableItem(id: row.id, in: definition) : nil)
        if let known, known.isSameState(as: row) {
            try addColumns(of: row, to: operation)
            return .pending
        }
        if let known, known.isLater(than: row) || known.hasSuperseded(row) { return .pending }
        // Only the version is known of the row of an item that the app has deleted and inserted again, or changed in its own
        // database after an update of the item was refused.
        if operation.serverItem == nil, operation.base == nil, operation.hasVersion(of: row),
            known?.system.version != operation.version
        {
            return .pending
        }
        var operation = operation
        if operation.isOfUnchanged(row, definition) {
            operation.rebase(onUnchanged: row, definition)
            try transaction.put(operation)
            return .pending
        }
        operation.serverItem = row.keepingColumns(of: operation.base)
        try transaction.put(operation)
        return .conflicting(operationID: operation.id)
    }

    /// Adds the columns of the row that its known state lacks: the server has added them without a new version, or the app has
    /// declared them since.
    private func addColumns(of row: Item, to operation: TableOperation) throws {
        guard !row.system.deleted, let known = operation.newestServerItem else { return }
        let complete = known.addingColumns(of: row, missingIn: known)
        guard complete != known else { return }
        var changed = operation
        if operation.serverItem != nil { changed.serverItem = complete } else { changed.base = complete }
        // Otherwise the missing columns would count as removed by the user.
        changed.deletedItem = changed.deletedItem?.addingColumns(of: row, missingIn: known)
        if operation.serverItem == nil, operation.kind == .update, !operation.replaces {
            do {
                if let local = try transaction.item(id: row.id, in: definition.name) {
                    let item = local.addingColumns(of: row, missingIn: known)
                    try transaction.upsert([item], in: definition.name)
                }
            } catch let error as StoreError where error.code == .corrupt {
                // The push reports the item. Its row may come again when it can be read.
                return
            }
        }
        try transaction.put(changed)
        guard var behind = try transaction.operation(behind: operation), let deleted = behind.deletedItem
        else { return }
        behind.deletedItem = deleted.addingColumns(of: row, missingIn: known)
        try transaction.put(behind)
    }

    /// Applies the row that was stored with a removed operation, if there is one.
    func applyKeptRow(of operation: TableOperation) throws {
        if let kept = operation.serverItem { try apply(kept) }
    }

    /// Applies the row that was stored with a removed operation, if the server changed it after this state.
    func applyKeptRow(of operation: TableOperation, ifLaterThan row: Item) throws {
        if let kept = operation.keptRow(after: row) { try apply(kept) }
    }
}

extension Item {
    /// Returns the server's row with the columns of its earlier state that it lacks: the server may not have them. A value that
    /// its column cannot hold is among the undeclared ones.
    func keepingColumns(of base: Item?) -> Item {
        guard let base, !system.deleted, !isInsertedAgain(since: base) else { return self }
        var row = self
        base.content.forEach { name, value in
            if !value.isNull, row.content[name] == nil, system.undeclaredValue(ofColumn: name) == nil {
                row.content[name] = value
            }
        }
        return row
    }

    /// Returns the item with the columns of the row that both it and that state of the row lack.
    fileprivate func addingColumns(of row: Item, missingIn known: Item) -> Item {
        var item = self
        row.content.forEach { name, value in
            if !value.isNull, known.content[name] == nil, item.content[name] == nil {
                item.content[name] = value
            }
        }
        func lacks(_ item: Item, _ name: String) -> Bool {
            (item.system.undeclaredValue(ofColumn: name) ?? .null).isNull
        }
        for (name, value) in row.system.undeclared where lacks(known, name) && lacks(item, name) {
            item.system.undeclared[name] = value
        }
        return item
    }
}

extension TableOperation {
    /// Whether the change was made on the version of this row.
    fileprivate func hasVersion(of row: Item) -> Bool {
        guard !row.system.deleted, let version, let known = row.system.version else { return false }
        return version.hasSameBytes(as: known)
    }

    /// Returns the row that a pull has stored with the operation, if it is a later state than the one in a response.
    ///
    /// If `updatedAt` does not tell, the pulled one is later: a page requested before the response is not stored, and a
    /// response replaces the row that was stored before.
    func keptRow(after row: Item) -> Item? {
        guard let kept = serverItem, !kept.isSameState(as: row), !row.isLater(than: kept) else { return nil }
        return kept
    }

    /// Returns the row that a pull has stored with the operation since the attempt, if it is unknown whether it is later
    /// than the one in the response.
    ///
    /// - Parameter row: `nil` if the response says that the server does not have the row.
    func row(unorderedBeside row: Item?, since attempted: TableOperation) -> Item? {
        guard let pulled = serverItem, pulled != attempted.serverItem else { return nil }
        guard let row else { return pulled.system.deleted ? nil : pulled }
        let isOrdered = pulled.isSameState(as: row) || pulled.isLater(than: row) || row.isLater(than: pulled)
        return isOrdered ? nil : pulled
    }
}
