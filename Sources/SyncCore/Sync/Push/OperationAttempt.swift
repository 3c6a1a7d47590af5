// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One attempt to send an operation: what is marked in the store, then sent.
struct OperationAttempt: Sendable {
    let context: SyncContext
    let definition: SyncTableDefinition
    /// The operation as it was marked, with the row that a pull had stored when the last request was sent.
    var operation: TableOperation
    /// The content that is sent now.
    let snapshot: TableOperation.SentSnapshot
    /// The item as it was marked; for a delete, as it was before.
    let item: Item?
    /// Whether the server did not have the row at the last attempt, or another row with its id.
    let rowWasReplaced: Bool
    /// Whether the outcome of an earlier attempt is unknown.
    let followsUnknownOutcome: Bool
    /// Whether the earlier attempt must not be repeated: see ``TableOperation/mustNotRepeatAttempt``.
    let mustNotRepeat: Bool
    /// The operation's revision before it was marked.
    let revisionBefore: Int
    /// The state of the pulls when the operation was marked.
    let lastPullIfIdle: StalePageGuard.Source?
    let requests: SentRequests

    /// Whether the server has applied a request of the operation, or may have.
    var mayBeApplied: Bool { requests.mayBeApplied || mayBeAppliedBefore }

    /// Whether the server has applied a request of the operation, or may have applied one before the one that was answered.
    var mayBeAppliedBefore: Bool {
        !requests.isRowUnchanged && (followsUnknownOutcome || requests.isRepeated || requests.isApplied)
    }

    /// Whether the status of the earlier attempt stays: no write was sent since, and the status shows that the attempt must not be
    /// repeated.
    var keepsStatus: Bool { !requests.hasWritten && operation.lastStatus != nil }

    /// Whether a pull may have stored the row since the operation was marked.
    var mayHavePulledRow: Bool {
        lastPullIfIdle == nil || lastPullIfIdle != context.stalePageGuard.lastPullIfIdle
    }

    /// Whether the server's row, not a response, shows that the change is applied. An earlier request or another client may
    /// have written it.
    var isProven: Bool { (mayBeAppliedBefore || !requests.isConfirmed) && !requests.isApplied }

    /// Compares the server's row with the oldest attempt with unknown outcome.
    var proof: LostAnswerProof {
        let resolver = mayBeAppliedBefore ? nil : context.settings.resolver(of: definition.name)
        return LostAnswerProof(
            of: operation, attempt: snapshot, definition: definition,
            combinedColumns: resolver?.combinedColumns ?? [])
    }
}

// MARK: Marking

extension OperationAttempt {
    /// What an attempt begins with.
    enum Start: Sendable {
        /// The operation is marked and can be sent.
        case marked(OperationAttempt)
        /// Nothing remains to be sent, and the operation is removed: the item as it is stored.
        case unneeded(Item?)
        /// The operation waits for an operation of another item.
        case held(TableOperationError, by: TableOperation)
        /// The item to send is missing.
        case missing(TableOperationError)
        /// The operation is not marked ahead of its turn: it was sent or refused before, or waits for one of another item.
        case early
        /// The operation no longer exists, is parked, is sent in a later round, or another operation of its item precedes it.
        case skipped
    }

    /// Marks the operation as attempted and stores the content of the attempt before it is sent. A lost answer can then
    /// be proven also after a crash.
    ///
    /// - Parameters:
    ///   - begun: the operation as it was when the push has begun it.
    ///   - substitute: the delegate's item; `nil` sends the stored item.
    ///   - isAhead: whether the operation begins ahead of its turn.
    static func start(
        _ begun: TableOperation, in context: SyncContext, _ definition: SyncTableDefinition,
        substitute: DelegateItem?, isAhead: Bool
    ) async throws -> Start {
        let operationID = begun.id
        // After a crash, an increment that was not sent would be taken for another client's equal one.
        let resolver = context.settings.resolver(of: definition.name)
        let combinedColumns = resolver?.combinedColumns ?? []
        return try await context.write(keepsMarks: true) { transaction in
            if !isAhead { try context.inFlight.takeBackMark(of: operationID, in: transaction) }
            let first = try transaction.operations(forItem: begun.itemID, in: definition.name).first
            guard var operation = first, operation.id == operationID, !operation.isParked else {
                return .skipped
            }
            let lastError = try transaction.operationError(operationID: operationID)
            if isAhead, operation.isAmbiguous || lastError != nil || !combinedColumns.isEmpty {
                return .early
            }
            if !isAhead { context.inFlight.insert(operationID) }
            if let substitute {
                try substitute.store(for: &operation, in: transaction, definition, context.client.dialect)
                try transaction.put(operation)
            }
            let local = try transaction.item(id: operation.itemID, in: definition.name)
            let completion = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            let catalog = context.store.dataSource.catalog
            if PushOrder.postpones(operation, begunAs: begun, in: catalog) {
                if isAhead { return .early }
                context.inFlight.remove(operationID)
                try completion.mergeBehind()
                return .skipped
            }
            let references = RowReferences(catalog: catalog, definition: definition)
            if let first = try references.prerequisite(of: operation, item: local, in: transaction) {
                if isAhead { return .early }
                // Nothing is sent: a change behind the operation, and every later one, waits with it.
                context.inFlight.remove(operationID)
                try completion.mergeBehind()
                guard let merged = try transaction.operation(id: operationID) else { return .skipped }
                let held = TableOperationError.held(merged, by: first, item: local)
                let conflict = try lastError?.conflict(of: merged, in: transaction, definition)
                try transaction.put(conflict ?? held)
                return .held(held, by: first)
            }
            if try operation.lacksItem(local, in: transaction) {
                if isAhead { return .early }
                context.inFlight.remove(operationID)
                return try completion.recordMissingItem().map(Start.missing) ?? .skipped
            }
            try context.waitToCorrect(operation, item: local, definition)
            let snapshot = operation.nextAttempt(
                item: local, definition: definition, sendsChangedFieldsOnly: context.sendsChangedFieldsOnly)
            guard let snapshot else {
                guard operation.kind == .insert else {
                    return .unneeded(try completion.removeUnneeded())
                }
                // The app has deleted the item. The server may have the row although this insert was not sent.
                context.inFlight.remove(operationID)
                try completion.mergeBehind()
                return .skipped
            }
            let mustNotRepeat = operation.mustNotRepeatAttempt(
                item: local, definition: definition, sendsChangedFieldsOnly: context.sendsChangedFieldsOnly,
                isUnanswered: context.isUnanswered(operation))
            let (unmarked, followsUnknownOutcome) = (operation, operation.isAmbiguous)
            operation.state = .attempted
            operation.revision += 1
            operation.lastAttempt = context.environment.now()
            // The status may be why the earlier attempt must not be repeated.
            if !mustNotRepeat { operation.lastStatus = nil }
            operation.sent = operation.content(toProve: snapshot)
            try transaction.put(operation)
            if isAhead { context.inFlight.insertAhead(operation, unmarked: unmarked) }
            return .marked(
                OperationAttempt(
                    context: context, definition: definition, operation: operation, snapshot: snapshot,
                    item: local ?? operation.deletedItem,
                    rowWasReplaced: lastError?.showsOtherRow(than: operation, of: local) ?? false,
                    followsUnknownOutcome: followsUnknownOutcome, mustNotRepeat: mustNotRepeat,
                    revisionBefore: unmarked.revision,
                    lastPullIfIdle: context.stalePageGuard.lastPullIfIdle,
                    requests: SentRequests(
                        changesCounter: snapshot.fields.keys.contains(where: combinedColumns.contains))))
        }
    }
}

extension TableOperationError {
    /// Whether the server did not have the row that the update or delete was made on, or another row with its id.
    fileprivate func showsOtherRow(than operation: TableOperation, of item: Item?) -> Bool {
        if code == .itemNotOnServer { return operation.kind == .update }
        guard operation.kind != .insert, let version = operation.version, let serverItem else { return false }
        let hasSameVersion = serverItem.system.version?.hasSameBytes(as: version) ?? false
        guard let known = operation.rowMadeOn(item) else { return hasSameVersion }
        return serverItem.isInsertedAgain(since: known)
            || hasSameVersion && !serverItem.isSameState(as: known)
    }
}
