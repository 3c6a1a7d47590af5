// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Changes the store as the outcome of an attempt requires, inside one transaction.
struct AttemptCompletion {
    let transaction: any StoreTransaction
    let definition: SyncTableDefinition
    let operationID: Int64
    /// Columns in which equal changes of both sides count twice: see ``ConflictResolver/combinedColumns``.
    var combinedColumns: Set<String> = []
    /// Receives the table if rows of it have to be pulled again.
    var tablesToPull: TablesToPull?

    /// Completes an operation that the server has applied: stores the row, and rebases the user's later changes on it.
    ///
    /// - Parameters:
    ///   - behind: the operation behind it, if there is one.
    ///   - row: the server's row; `nil` when it is gone.
    ///   - sent: the content that the server has applied; what differs from it is a later change of the user.
    ///   - known: the pulled row that was stored with the operation when it was sent.
    ///   - replaced: the state of the row in the condition of the applied request.
    ///   - isProven: whether an earlier request may have been the applied one. Other clients may have changed the row since
    ///     then, and the version that it replaces is not only this client's.
    ///   - isResponse: whether the row is the response to a request of the operation. A row that a delegate has returned is not
    ///     known to have replaced another.
    ///   - newest: a state of the row that is known to be later than `row`, if one was fetched. A pull may have stored a still
    ///     later one with the operation.
    /// - Returns: the item as it is stored now.
    func complete(
        _ operation: TableOperation, before behind: TableOperation?, with row: Item?,
        sent: TableOperation.SentSnapshot, known: Item? = nil,
        replacing replaced: Item? = nil, isProven: Bool = false, isResponse: Bool = true,
        receivedSince newest: Item? = nil
    ) throws -> Item? {
        try transaction.removeOperationAndError(id: operationID)
        guard let row, !row.system.deleted else {
            if var behind {
                // The server can keep a tombstone of the row, which is no conflict of the insert.
                if operation.kind == .delete, behind.kind == .insert {
                    behind.replaces = true
                    try transaction.put(behind)
                }
            } else if try !isInsertedAgain(operation) {
                try transaction.deleteItems(ids: [operation.itemID], in: definition.name)
            }
            // A pull may have received the row again, restored by another client, before this response arrived.
            if let later = operation.serverItem, later != known, !later.system.deleted,
                replaced?.isSameState(as: later) != true, row?.isLater(than: later) != true
            {
                try applier.apply(later)
            }
            return nil
        }
        let later =
            laterRow(
                of: operation, than: newest ?? row, known: known, replacing: replaced, isProven: isProven)
            ?? newest
        return try store(
            row, for: operation, behind: behind, sent: sent, replacing: replaced, isProven: isProven,
            isResponse: isResponse, later: later)
    }

    /// Whether the app has inserted the deleted item again in its own database, and has not queued the insert yet.
    private func isInsertedAgain(_ delete: TableOperation) throws -> Bool {
        guard delete.kind == .delete,
            let item = try transaction.item(id: delete.itemID, in: definition.name)
        else { return false }
        return item.system.version == nil
    }

    /// Returns the state of the row that a pull has received during the attempt, if it is later than the response.
    private func laterRow(
        of operation: TableOperation, than row: Item, known: Item?, replacing replaced: Item?, isProven: Bool
    ) -> Item? {
        guard let later = operation.keptRow(after: row), later != known,
            replaced?.isSameState(as: later) != true, !isReplaced(later, by: row, replacing: replaced)
        else { return nil }
        // Within one instant, a tombstone can be that of the row before this one.
        let isTombstoneBefore =
            operation.kind == .insert && later.system.deleted && row.isInsertedAgain(since: later)
        let isUnordered = isProven || isTombstoneBefore
        return isUnordered && !later.isLater(than: row) ? nil : later
    }

    /// Returns the state of the row that a pull has received during the attempt, if it is unknown whether it is later than
    /// the response to the applied request.
    func unorderedRow(
        of operation: TableOperation, beside row: Item?, known: Item?, replacing replaced: Item?
    ) -> Item? {
        guard let row, !row.system.deleted,
            let later = laterRow(
                of: operation, than: row, known: known, replacing: replaced, isProven: false),
            !later.isLater(than: row)
        else { return nil }
        return later
    }

    /// Whether the row has replaced this state, although the request was made on an earlier row of that version: the row was
    /// deleted for good and inserted again.
    private func isReplaced(_ state: Item, by row: Item, replacing replaced: Item?) -> Bool {
        guard let version = replaced?.system.version, let createdAt = state.system.createdAt else {
            return false
        }
        return state.system.version?.hasSameBytes(as: version) == true && createdAt == row.system.createdAt
    }

    /// Removes an update that has nothing to send, and applies the row that a pull has stored with it.
    func removeUnneeded() throws -> Item? {
        guard let operation = try transaction.operation(id: operationID) else { return nil }
        try transaction.removeOperationAndError(id: operationID)
        if var behind = try transaction.operation(behind: operation) {
            if behind.kind != .insert {
                // The item that the later operation was made on has the change that is not sent, and no version if it was
                // inserted again.
                let former = behind
                if !behind.hasUnknownBase { behind.base = operation.base }
                behind.version = former.olderVersion(behind: operation) ?? operation.version
                behind.serverItem = nil
                behind.setOlderCopy(as: former)
                try transaction.put(behind)
            }
        } else if let base = operation.base,
            let item = try transaction.item(id: base.id, in: definition.name)
        {
            try transaction.removeUndeclaredEdits(of: item, since: base, definition: definition)
        }
        try applier.applyKeptRow(of: operation)
        return try transaction.item(id: operation.itemID, in: definition.name)
    }

    private func store(
        _ row: Item, for operation: TableOperation, behind: TableOperation?,
        sent: TableOperation.SentSnapshot, replacing replaced: Item?, isProven: Bool, isResponse: Bool,
        later: Item?
    ) throws -> Item? {
        if let behind, behind.kind == .insert {
            try replace(row, with: behind)
            if let later { try applier.apply(later) }
            return try transaction.item(id: operation.itemID, in: definition.name)
        }
        let local = try transaction.item(id: operation.itemID, in: definition.name)
        let ancestor = CommonAncestor(
            of: operation, behind: behind, sent: sent, row: row, local: local, definition)
        /// Returns the row with the user's later changes.
        func rebase(_ local: Item) -> Item {
            var merged = row.merged(over: local, ancestor: ancestor.fields, definition: definition)
            // A former attempt of an insert can have been an update of a row that is gone.
            let sentVersions = operation.kind == .insert ? [] : [sent.version, replaced?.system.version]
            let isOwn = isResponse && (!isProven || definition.isShown(ancestor.left, as: row))
            merged.system.supersededVersions =
                isOwn && !row.isInsertedAgain(since: local)
                ? Self.superseded(local.system, sent: sentVersions, by: [row, later]) : []
            return merged
        }
        let merged = (local ?? behind?.deletedItem).map(rebase)
        if local != nil, let merged { try transaction.upsert([merged], in: definition.name) }
        let next =
            behind ?? Self.followUp(of: operation, local: local, ancestor: ancestor.fields, definition)
        if let next {
            var base = definition.withoutLocalOnlyColumns(row)
            // Columns that the server does not have would otherwise count as edits.
            base.fields.merge(ancestor.fields) { known, _ in known }
            // Both can be restored when the change is discarded.
            base.system.supersededVersions = merged?.system.supersededVersions ?? []
            var rebased = next.rebased(on: base)
            rebased.deletedItem = next.deletedItem.map(rebase)
            // An edit of a copy older than the row keeps the copy's version, so that the server reports the conflict.
            let older =
                next.olderVersion(than: local?.system) ?? operation.olderVersion(than: local?.system)
            if let older, sent.version != older { rebased.version = older }
            if behind != nil { rebased.setOlderCopy(as: next) }
            // A change that clashes with a later one of another client also keeps its base and version.
            let system = SystemProperties(version: operation.version)
            var made = operation.base ?? Item(id: operation.itemID, system: system)
            made.fields = ancestor.certain
            let hasClash =
                local.map { ancestor.hasClash(of: $0, with: row, madeOn: made, combining: combinedColumns) }
                ?? !definition.isShown(ancestor.left, as: row)
            if isProven, hasClash {
                rebased = next.rebased(on: made)
                rebased.serverItem = row
            }
            try transaction.put(rebased)
        }
        if let later { try applier.apply(later) }
        return try transaction.item(id: operation.itemID, in: definition.name)
    }

    /// Makes the change an update that replaces the server's row. The item on the device keeps its fields.
    func replace(_ row: Item, with change: TableOperation) throws {
        var next = change
        next.kind = .update
        next = next.rebased(on: definition.withoutLocalOnlyColumns(row))
        next.replaces = true
        if var local = try transaction.item(id: change.itemID, in: definition.name) {
            let former = local
            local.system = row.system
            let changed = local.recordingRemovedColumns(of: former, definition: definition)
            try transaction.upsert([changed], in: definition.name)
        }
        try transaction.put(next)
    }

    /// Returns the operation that remains when the user has edited the item after an attempt that was proven only now;
    /// `nil` without edits.
    private static func followUp(
        of operation: TableOperation, local: Item?, ancestor: [String: ItemValue],
        _ definition: SyncTableDefinition
    ) -> TableOperation? {
        var next = operation
        if let local {
            guard definition.isEdited(local, since: ancestor) else { return nil }
            // The flag permits an insert to replace a tombstone; the server has a row.
            if next.kind == .insert { next.replaces = false }
            next.kind = .update
        } else {
            guard operation.kind == .delete else { return nil }
        }
        return next
    }

    /// Returns the versions of this client's own that the row's version replaces: the item's, and those that the requests
    /// have sent. An item that was deleted and inserted again has no version.
    private static func superseded(
        _ local: SystemProperties, sent: [String?], by rows: [Item?]
    ) -> [String] {
        let current = rows.compactMap { $0?.system.version }
        guard !current.isEmpty else { return local.supersededVersions }
        var versions = local.supersededVersions
        for previous in ([local.version] + sent).compactMap(\.self)
        where !(versions + current).contains(where: previous.hasSameBytes) {
            versions.append(previous)
        }
        return versions.suffix(SystemProperties.maxSupersededVersions)
    }

    /// Records that the attempt failed, and merges the operation with the one behind it.
    ///
    /// - Parameters:
    ///   - mayBeApplied: whether the server may have applied any attempt; otherwise the operation counts as never sent.
    ///     After a conflict, too: another client may have changed the row since.
    ///   - status: the HTTP status of the response, if there was one.
    ///   - serverItem: the server's row in the response; it replaces an earlier one that a pull has stored.
    ///   - isMissing: whether the server does not have the row; then the one that a pull has stored is gone.
    ///   - keepsStatus: whether the status stays that of an earlier attempt which may be applied.
    ///   - undeleted: the row that an undelete of this attempt has left.
    ///   - limit: the number of refusals after which the operation is parked; `nil` when the failure is not counted.
    /// - Returns: the operation as it is now; `nil` when it and the one behind it have cancelled each other out.
    func fail(
        mayBeApplied: Bool, status: Int?, serverItem: Item? = nil, isMissing: Bool = false,
        keepsStatus: Bool = false, undeleted: Item? = nil, parkAfter limit: Int?
    ) throws -> TableOperation? {
        guard var operation = try transaction.operation(id: operationID) else { return nil }
        if let serverItem, let pulled = operation.serverItem, !pulled.isLater(than: serverItem) {
            operation.serverItem = serverItem
        }
        if isMissing { try removeServerItem(of: &operation) }
        if !keepsStatus || !mayBeApplied { operation.lastStatus = status }
        operation.state = mayBeApplied ? .attempted : .pending
        if !mayBeApplied {
            operation.sent = nil
            if let undeleted, operation.isOfUnchanged(undeleted, definition) {
                operation.rebase(onUnchanged: undeleted, definition)
            }
        }
        if let limit { operation.countRefusal(parkAfter: limit) }
        try transaction.put(operation)
        try mergeBehind()
        guard var merged = try transaction.operation(id: operationID) else { return nil }
        if isMissing, merged.serverItem != nil {
            // Set by the merge with a change of an older copy; the server does not have the row.
            merged.serverItem = nil
            try transaction.put(merged)
        }
        return merged
    }

    /// Removes the row that a pull has stored with the operation: the server does not have it.
    ///
    /// If only a version is known of the row that the change was made on, the pull may have taken another row of that version for
    /// it. The rows are pulled again then.
    private func removeServerItem(of operation: inout TableOperation) throws {
        operation.serverItem = nil
        let isKnownMissing =
            try transaction.operationError(operationID: operationID)?.code == .itemNotOnServer
        guard operation.base == nil, operation.version != nil, !isKnownMissing else { return }
        try transaction.recordRowToPull(in: definition.name, tablesToPull)
    }

    /// Merges an operation that is no longer in flight with the one behind it.
    func mergeBehind() throws {
        guard let operation = try transaction.operation(id: operationID),
            let behind = try transaction.operation(behind: operation)
        else { return }
        switch TableOperation.merge(operation, with: behind) {
        case .replace(let merged):
            try transaction.put(merged)
            try transaction.removeOperationAndError(id: behind.id)
        case .remove(let id):
            try transaction.removeOperationAndError(id: id)
            try transaction.removeOperationAndError(id: behind.id)
            try applier.applyKeptRow(of: operation)
        case .append, .nothing, .refuse:
            break
        }
    }

    var applier: ServerRowApplier { ServerRowApplier(transaction: transaction, definition: definition) }
}

extension TableOperation {
    /// Returns the same change made on a newer row: never sent, without attempts and conflict.
    func rebased(on row: Item?) -> TableOperation {
        var rebased = self
        if kind != .insert {
            rebased.base = row
            rebased.version = row?.system.version
        }
        rebased.serverItem = nil
        rebased.sent = nil
        rebased.state = .pending
        rebased.refusals = 0
        rebased.revision += 1
        return rebased
    }
}
