// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Sends one operation: marks the attempt in the store, asks the server, and stores what the answer means.
struct OperationSender: Sendable {
    let context: SyncContext
    let definition: TableDefinition
    let operationID: Int64
    /// The place to leave when the server has it, so that the next operation's turn begins before the result is stored;
    /// `nil` to keep it until then.
    let place: PushLane.Place?

    /// What became of the operation.
    enum Outcome: Sendable {
        /// It is done; the item as it is stored now, or `nil` when it is gone.
        case completed(Item?)
        /// It stays pending, for this reason, which is in the error log.
        case failed(TableOperationError)
        /// It was collapsed away, or is not due: parked, or behind another operation of its item.
        case skipped
    }

    /// Sends the operation, again after failures that may pass and conflicts that a resolver decides, and stores
    /// the outcome.
    ///
    /// - Parameters:
    ///   - item: the item to send and store instead of the stored one, if the delegate gave one.
    ///   - original: the stored one as the delegate saw it; what the user has changed since stays.
    /// - Throws: ``SyncError`` with one of the codes that end a push; `CancellationError`.
    func send(item: Item? = nil, insteadOf original: Item? = nil) async throws -> Outcome {
        context.inFlight.insert(operationID)
        defer { context.inFlight.remove(operationID) }
        var outcome = try await sendOnce(item: item, insteadOf: original)
        for _ in 0..<context.settings.maxResolutions {
            guard case .failed(let error) = outcome, error.isConflict else { return outcome }
            let settlement = ConflictSettlement(context: context, definition: definition, isInFlight: true)
            switch try await settlement.settle(error) {
            case .unresolved(let error): return .failed(error)
            case .settled(let item): return .completed(item)
            case .sendAgain: outcome = try await sendOnce()
            case .changed(let error): outcome = .failed(error)
            }
        }
        return outcome
    }

    private func sendOnce(item: Item? = nil, insteadOf original: Item? = nil) async throws -> Outcome {
        switch try await prepare(item: item, insteadOf: original) {
        case .skipped: return .skipped
        case .unneeded(let item): return .completed(item)
        case .attempt(let attempt):
            let verdict: PushVerdict
            do {
                verdict = try await self.verdict(on: attempt)
            } catch let error as SyncError {
                return try await settle(attempt, failure: error)
            }
            return try await settle(attempt, verdict)
        }
    }

    /// Edits made after an attempt that is only now known to have succeeded go out at once.
    private func sendEdits(after item: Item?) async throws -> Outcome {
        let operationID = operationID
        let isThere = try await context.read { try $0.operation(id: operationID) != nil }
        return isThere ? try await sendOnce() : .completed(item)
    }

    // MARK: After the answer

    private func settle(_ attempt: Attempt, _ verdict: PushVerdict) async throws -> Outcome {
        switch verdict {
        case .succeeded(let row):
            if !attempt.wasAmbiguous { place?.leave() }
            let item = try await complete(attempt, with: row)
            return attempt.wasAmbiguous ? try await sendEdits(after: item) : .completed(item)
        case .conflict(let status, let serverItem):
            let isMissing = status == 404 || status == 410
            return try await fail(
                attempt, isApplied: false, status: status,
                code: isMissing ? .itemNotOnServer : .preconditionFailed,
                message: Self.conflictMessage(status: status), serverItem: serverItem)
        case .refused(let status, let code, let message):
            return try await fail(
                attempt, isApplied: attempt.isAppliedIfRefused, status: status, code: code,
                message: refusalMessage(status: status, code: code, message: message))
        case .ambiguous(let status):
            return try await fail(
                attempt, isApplied: nil, status: status, code: .serverError,
                message: "The server's answer (status \(status)) does not tell whether it was done.")
        case .unauthenticated:
            try await release(isApplied: attempt.isAppliedIfRefused, status: 401)
            throw SyncError(.pushAbortedAuthentication, "The server asks to sign in.")
        case .undecided, .continues:
            throw SyncError(.internalError, "The answer to operation \(operationID) was not decided.")
        }
    }

    private func settle(_ attempt: Attempt, failure error: SyncError) async throws -> Outcome {
        switch error.code {
        case .networkUnavailable:
            try await release(isApplied: nil, status: nil)
            throw SyncError(.pushAbortedNetwork, error.message, cause: error.cause, mayRetry: true)
        case .authenticationRequired:
            try await release(isApplied: attempt.isAppliedIfRefused, status: nil)
            throw SyncError(.pushAbortedAuthentication, error.message, cause: error.cause)
        default:
            return try await fail(
                attempt, isApplied: attempt.isAppliedIfRefused, status: nil, code: error.code,
                message: error.message)
        }
    }

    /// The texts of the original client, by which people search for help.
    private static func conflictMessage(status: Int) -> String {
        switch status {
        case 404, 410: "The item does not exist on the server"
        case 409: "The item already exists on the server"
        default: "The server's version did not match the passed version"
        }
    }

    private func refusalMessage(status: Int, code: SyncError.Code, message: String?) -> String {
        if code == .tableNotOnServer { return "The server has no table '\(definition.name)'." }
        return message ?? "The server refused it with status \(status)."
    }

    /// Stores the row as the operation's result: see ``PushEffects/complete(with:sent:known:)``.
    private func complete(_ attempt: Attempt, with row: Item?) async throws -> Item? {
        let (context, definition, operationID) = (context, definition, operationID)
        return try await context.write { transaction in
            if let id = try row?.id ?? transaction.operation(id: operationID)?.itemID {
                context.acknowledgements.note(row, id: id, in: definition.name, from: Acknowledgements.pushes)
            }
            if context.isStoreShared, row?.system.deleted ?? true,
                let operation = try transaction.operation(id: operationID)
            {
                try SharedStorePull.noteRemoval(
                    of: row ?? operation.newestServerItem, id: operation.itemID, table: definition.name,
                    at: context.environment.now(), in: transaction)
            }
            let effects = PushEffects(
                transaction: transaction, definition: definition, operationID: operationID)
            return try effects.complete(
                with: row, sent: attempt.proof, known: attempt.operation.serverItem)
        }
    }

    private func fail(
        _ attempt: Attempt, isApplied: Bool?, status: Int?, code: SyncError.Code, message: String,
        serverItem: Item? = nil
    ) async throws -> Outcome {
        let (definition, operationID) = (definition, operationID)
        // A server that is busy or away says nothing about the operation: that parks none.
        let isBusy = [408, 425, 429, 502, 503, 504].contains(status)
        let maxAttempts = isBusy ? nil : context.settings.maxAttempts
        let failure = try await context.write { transaction in
            let effects = PushEffects(
                transaction: transaction, definition: definition, operationID: operationID)
            let operation = try effects.fail(isApplied: isApplied, status: status, maxAttempts: maxAttempts)
            let failure = operation.map { operation in
                TableOperationError(
                    operationID: operationID, table: operation.table, itemID: operation.itemID,
                    kind: attempt.operation.kind, item: attempt.item, serverItem: serverItem, status: status,
                    code: code, message: message, revision: operation.revision)
            }
            if let failure { try transaction.put(failure) }
            return failure
        }
        return failure.map(Outcome.failed) ?? .skipped
    }

    /// Leaves the operation to the next push: what failed is not its own.
    private func release(isApplied: Bool?, status: Int?) async throws {
        let (definition, operationID) = (definition, operationID)
        try await context.write { transaction in
            let effects = PushEffects(
                transaction: transaction, definition: definition, operationID: operationID)
            _ = try effects.fail(isApplied: isApplied, status: status, maxAttempts: nil)
        }
    }

    // MARK: What a delegate decides

    /// Stores the item that the delegate returned as the operation's result.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` or ``SyncError/Code/invalidItemID`` for an item that cannot be it.
    func store(_ item: Item, for operation: TableOperation, insteadOf outcome: Outcome?) async throws {
        guard item.id.hasSameBytes(as: operation.itemID) else {
            throw SyncError(
                .invalidItemID, "The item of an operation must keep its id '\(operation.itemID)'.")
        }
        var result = item
        result.fields = try definition.normalizedForWriting(item.fields)
        if case .completed(let stored) = outcome {
            // The copy that was sent has an older version, and after a delete there is nothing to store.
            guard let stored, stored != result else { return }
            if !item.isLater(than: stored) { result.system = stored.system }
        }
        let (definition, operationID, row) = (definition, operationID, result)
        try await context.write { transaction in
            guard let operation = try transaction.operation(id: operationID) else {
                _ = try PullEffects(transaction: transaction, definition: definition).apply(row)
                return
            }
            if operation.kind == .delete {
                // A delete that ends with an item is taken back.
                let restored = row.keepingLocalColumns(of: operation.deletedItem, definition: definition)
                try transaction.upsert([restored], in: definition.name)
            }
            let local = try transaction.item(id: row.id, in: definition.name)
            let sent = TableOperation.SentSnapshot(
                kind: .update, fields: local.map(definition.sentFields) ?? [:], version: nil)
            let effects = PushEffects(
                transaction: transaction, definition: definition, operationID: operationID)
            _ = try effects.complete(with: row, sent: sent)
        }
    }

    /// Puts an error of the delegate's own into the error log.
    func record(_ error: any Error) async throws -> TableOperationError? {
        try await context.write { [operationID] transaction in
            guard let operation = try transaction.operation(id: operationID) else { return nil }
            let item =
                try transaction.item(id: operation.itemID, in: operation.table) ?? operation.deletedItem
            let recorded = TableOperationError(
                operationID: operationID, table: operation.table, itemID: operation.itemID,
                kind: operation.kind, item: item, serverItem: operation.serverItem, status: nil,
                code: (error as? SyncError)?.code ?? .invalidOperation,
                message: (error as? SyncError)?.message ?? String(describing: error),
                revision: operation.revision)
            try transaction.put(recorded)
            return recorded
        }
    }
}
