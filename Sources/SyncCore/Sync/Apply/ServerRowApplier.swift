// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Applies rows of the server to a table, inside a store transaction: for pulls, pushes and resolutions alike.
struct ServerRowApplier {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    /// Whether the operation queue is known to be empty, which saves a lookup per row.
    var isQueueEmpty = false
    /// Records removed rows for the other processes; `nil` in a store of one process.
    var sharedStore: SharedStorePull?

    /// What applying a row has changed.
    enum Outcome: Sendable, Hashable {
        /// The row was stored.
        case upserted
        /// The row is a tombstone; the local item was removed.
        case deleted
        /// Nothing: the store has the row already, or has no item to remove.
        case unchanged
        /// Nothing: the item has a pending operation that was made on this row or a later one.
        case pending
        /// The row was stored with the item's pending operation, which was made on an older row.
        case conflicting(operationID: Int64)
    }

    /// Applies the rows of a page in their order.
    ///
    /// A constraint of the app's table may refuse a row before a later one is stored: the row to which it refers, or the one that
    /// has its unique value until then. Refused rows are applied again after the others.
    ///
    /// - Parameters:
    ///   - isCurrent: whether to apply the row at an index.
    ///   - didStore: called with each row that was applied.
    /// - Throws: the error of the first row that is refused also after the others.
    func apply(
        _ rows: [Item], where isCurrent: (Int) -> Bool, didStore: (Item) -> Void
    ) throws -> [Outcome] {
        var outcomes = [Outcome](repeating: .unchanged, count: rows.count)
        var isLikelyNew = true
        var waiting = rows.indices.filter(isCurrent)
        while true {
            var refused: [(index: Int, error: StoreError)] = []
            for index in waiting {
                do {
                    outcomes[index] = try apply(rows[index], isLikelyNew: &isLikelyNew)
                    didStore(rows[index])
                } catch let error as StoreError where error.code == .schemaMismatch {
                    refused.append((index, error))
                }
            }
            guard let first = refused.first else { return outcomes }
            guard refused.count < waiting.count else { throw first.error }
            waiting = refused.map(\.index)
        }
    }

    /// Applies a row whose fields are normalized.
    @discardableResult
    func apply(_ row: Item) throws -> Outcome {
        var isLikelyNew = false
        return try apply(row, isLikelyNew: &isLikelyNew)
    }

    /// Applies one row of a page.
    ///
    /// - Parameter isLikelyNew: whether the previous row was new, which predicts the next one: nearly all rows of a first
    ///   pull are new, and few of a later one.
    func apply(_ row: Item, isLikelyNew: inout Bool) throws -> Outcome {
        if !isQueueEmpty, let first = try transaction.operations(forItem: row.id, in: definition.name).first {
            return try keep(row, with: first)
        }
        if isLikelyNew, !row.system.deleted, try transaction.insert(row, in: definition.name) {
            return .upserted
        }
        let local =
            row.system.deleted
            ? try transaction.readableItem(id: row.id, in: definition)
            : try transaction.replaceableItem(id: row.id, in: definition)
        isLikelyNew = local == nil
        // A cache can return an old page. Without `updatedAt`, the version may be that of a row inserted again.
        if let local, row.system.updatedAt != nil, local.hasSuperseded(row) { return .unchanged }
        if row.system.deleted {
            if let sharedStore {
                // Also without an item: a page of another process may show the row as it was before.
                try SharedStorePull.recordRemoval(
                    of: row, id: row.id, table: definition.name, at: sharedStore.now, in: transaction)
            }
            guard local != nil else { return .unchanged }
            try transaction.deleteItems(ids: [row.id], in: definition.name)
            return .deleted
        }
        let stored = row.keepingLocalColumns(of: local, definition: definition)
        guard stored != local?.withoutSupersededVersions else { return .unchanged }
        try transaction.upsert([stored], in: definition.name)
        return .upserted
    }
}

extension Item {
    fileprivate var withoutSupersededVersions: Item {
        var copy = self
        copy.system.supersededVersions = []
        return copy
    }
}
