// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a row from the server changes in the store, inside the transaction of its page.
struct ServerRowApplier {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    /// Whether nothing at all is known to be pending, so that it need not be looked up for each row.
    var isQueueEmpty = false
    /// What other processes may have stored meanwhile; `nil` in a store of one process.
    var sharing: SharedStorePull?

    /// What became of a row.
    enum Outcome: Sendable, Hashable {
        /// It was stored.
        case upserted
        /// It is a tombstone, and the local item was removed.
        case deleted
        /// The store has it already, or had nothing to remove.
        case unchanged
        /// A change of the item is pending, and was made on this row or a later one.
        case pending
        /// A change of the item is pending that was made on an older row; this one waits with the operation.
        case conflicting(operationID: Int64)
    }

    /// Applies a row whose fields are normalised.
    func apply(_ row: Item) throws -> Outcome {
        var isLikelyNew = false
        return try apply(row, isLikelyNew: &isLikelyNew)
    }

    /// Applies a row of many.
    ///
    /// - Parameter isLikelyNew: whether the row before was new: nearly all are in a first pull, and few in a later one.
    func apply(_ row: Item, isLikelyNew: inout Bool) throws -> Outcome {
        if !isQueueEmpty, let first = try transaction.operations(forItem: row.id, in: definition.name).first {
            return try remember(row, with: first)
        }
        if isLikelyNew, !row.system.deleted, sharing?.othersHaveCommitted != true,
            try transaction.insert(row, in: definition.name)
        {
            return .upserted
        }
        let local = try transaction.item(id: row.id, in: definition.name)
        isLikelyNew = local == nil
        if let sharing,
            try sharing.isOutdated(row, local: local, table: definition.name, in: transaction)
        {
            return .unchanged
        }
        if row.system.deleted {
            guard local != nil else { return .unchanged }
            try transaction.deleteItems(ids: [row.id], in: definition.name)
            if let sharing {
                try SharedStorePull.noteRemoval(
                    of: row, id: row.id, table: definition.name, at: sharing.now, in: transaction)
            }
            return .deleted
        }
        let merged = row.keepingLocalColumns(of: local, definition: definition)
        guard merged != local?.forgettingSupersededVersions else { return .unchanged }
        try transaction.upsert([merged], in: definition.name)
        return .upserted
    }

    /// Keeps the row beside the pending operation, unless it is what the operation was made on, or older.
    private func remember(_ row: Item, with operation: TableOperation) throws -> Outcome {
        if let known = operation.newestServerItem, known.isSameState(as: row) || known.isLater(than: row) {
            return .pending
        }
        var operation = operation
        operation.serverItem = row
        try transaction.put(operation)
        return .conflicting(operationID: operation.id)
    }
}

extension Item {
    fileprivate var forgettingSupersededVersions: Item {
        var copy = self
        copy.system.supersededVersions = []
        return copy
    }

    /// Whether both are the same state of one server row.
    ///
    /// The version alone does not tell: versions restart when a row is deleted for good and inserted again.
    func isSameState(as other: Item) -> Bool {
        guard let version = system.version, let otherVersion = other.system.version else {
            return self == other
        }
        return version.hasSameBytes(as: otherVersion) && system.deleted == other.system.deleted
            && system.updatedAt.isShownAlike(other.system.updatedAt)
    }
}

extension Timestamp? {
    /// Whether both can be the same instant, shown with different numbers of digits; one that is missing can be any.
    fileprivate func isShownAlike(_ other: Timestamp?) -> Bool {
        guard let self, let other else { return true }
        let digits = Int(Swift.min(self.fractionDigits, other.fractionDigits))
        return self.showing(fractionDigits: digits).isSameInstant(as: other.showing(fractionDigits: digits))
    }
}
