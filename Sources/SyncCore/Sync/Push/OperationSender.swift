// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Sends one operation: makes attempts, resolves conflicts, and stores the outcome of each attempt.
struct OperationSender: Sendable {
    let context: SyncContext
    let definition: SyncTableDefinition
    /// The operation as it was when the push has begun it.
    let begun: TableOperation
    /// The permit to release on success before the result is stored, so that the next operation can begin; `nil` keeps
    /// the permit until then.
    let permit: AsyncSemaphore.Permit?
    let limits: PushLimits
    let serverErrors: ServerErrorStreak

    var operationID: Int64 { begun.id }

    /// How sending has ended.
    enum Result: Sendable {
        /// The operation is complete: the item as it is stored; `nil` when it was deleted.
        case completed(Item?)
        /// The operation stays pending with this error, which is in the error log.
        case failed(TableOperationError)
        /// The operation stays pending with this error, because the service did not confirm it.
        case unconfirmed(TableOperationError)
        /// Nothing was sent, because an operation of another item has to be sent first. The error is in the error log.
        case held(TableOperationError, by: TableOperation)
        /// Nothing was sent, because the operation no longer exists, is parked, has become a delete of a later round, or
        /// another operation of its item precedes it; or this was found after a request, for example because the operation
        /// and the one behind it have cancelled each other out.
        case skipped

        /// What the server has answered to an operation that stays pending.
        var failure: TableOperationError? {
            switch self {
            case .failed(let error), .unconfirmed(let error): error
            case .completed, .held, .skipped: nil
            }
        }
    }

    /// Sends the operation, again for every conflict that a resolver decides, and stores the outcome.
    ///
    /// - Parameters:
    ///   - substitute: the delegate's item; `nil` sends the stored one.
    ///   - willSend: called with the change that each attempt sends.
    /// - Throws: ``SyncError`` with one of the codes that end a push; `CancellationError`.
    func send(
        _ substitute: DelegateItem? = nil, willSend: @Sendable (SeenChange) -> Void = { _ in }
    ) async throws -> Result {
        defer { context.inFlight.remove(operationID) }
        let result: Result
        do {
            result = try await sendAndResolve(substitute, willSend: willSend)
        } catch let error as SyncError where error.isOfItem {
            result = try await record(error).map(Result.failed) ?? .skipped
        }
        switch result {
        case .failed(let error): return try await mergeEdits(since: error).map(Result.failed) ?? .skipped
        case .unconfirmed(let error):
            return try await mergeEdits(since: error).map(Result.unconfirmed) ?? .skipped
        case .completed, .held, .skipped: return result
        }
    }

    private func sendAndResolve(
        _ substitute: DelegateItem?, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        var result = try await sendOnce(substitute, willSend: willSend)
        for _ in 0..<max(0, context.settings.maxResolutions) {
            guard case .failed(let error) = result, error.isConflict else { return result }
            let resolution = ConflictResolution(context: context, definition: definition, isInFlight: true)
            switch try await resolution.resolve(error) {
            case .unresolved(let error): return .failed(error)
            case .resolved(let item): return .completed(item)
            case .sendAgain: result = try await sendOnce(willSend: willSend)
            case .changed(let error): result = .failed(error)
            }
        }
        return result
    }

    private func sendOnce(
        _ substitute: DelegateItem? = nil, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        switch try await start(substitute) {
        case .skipped, .early: return .skipped
        case .held(let error, let first): return .held(error, by: first)
        case .missing(let error): return .failed(error)
        case .unneeded(let item): return .completed(item)
        case .marked(let attempt):
            willSend(SeenChange(kind: attempt.operation.kind, item: attempt.item))
            return try await finish(attempt, willSend: willSend) { try await attempt.send() }
        }
    }

    /// Marks the operation, ahead of its turn if it has begun early, and waits for the turn.
    private func start(_ substitute: DelegateItem?) async throws -> OperationAttempt.Start {
        if let permit, !permit.isItsTurn {
            let start = try await OperationAttempt.start(
                begun, in: context, definition, substitute: substitute, isAhead: true)
            guard await permit.turn(), !Task.isCancelled,
                !limits.isTimeOver(uptime: context.environment.uptime())
            else {
                // The push ends: a write takes the mark back.
                if case .marked = start { try await context.write { _ in } }
                return .skipped
            }
            switch start {
            case .unneeded: return start
            case .marked where context.inFlight.beginSending(operationID): return start
            // An operation in front of it may be complete now.
            case .marked, .early, .held, .missing, .skipped: break
            }
        }
        let start = try await OperationAttempt.start(
            begun, in: context, definition, substitute: substitute, isAhead: false)
        context.inFlight.removeMark(of: operationID)
        return start
    }

    /// Sends the requests of the attempt, and stores what their outcome means.
    private func finish(
        _ attempt: OperationAttempt, willSend: @Sendable (SeenChange) -> Void,
        _ sendRequests: () async throws -> AttemptOutcome
    ) async throws -> Result {
        let outcome: AttemptOutcome
        do {
            outcome = context.unauthorized.outcome(
                try await sendRequests(), of: operationID, in: definition.name, after: serverErrors)
        } catch let failure as SyncError {
            try await endPush(PushEnding(sending: failure), attempt)
            return try await fail(
                attempt, mayBeApplied: attempt.mayBeAppliedBefore, status: nil, code: failure.code,
                message: failure.message
            ).result(Result.failed)
        } catch is CancellationError {
            if !attempt.requests.mayBeApplied { try? await leave(attempt, status: nil) }
            throw CancellationError()
        }
        try await endPush(PushEnding(outcome, now: context.environment.now()), attempt)
        if attempt.requests.hasResponse { context.unanswered.recordAnswer(to: attempt.answeredID) }
        return try await store(outcome, of: attempt, willSend: willSend)
    }

    /// Stores what the outcome of the attempt means.
    private func store(
        _ outcome: AttemptOutcome, of attempt: OperationAttempt, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        switch outcome {
        case .succeeded(let row):
            serverErrors.recordCompletion(by: attempt.requests, in: definition.name)
            return try await store(row, of: attempt, willSend: willSend)
        case .conflict(let reason, let status, let serverItem):
            let code = reason.code(for: attempt.operation.kind)
            let failure = try await fail(
                attempt, mayBeApplied: attempt.mayBeAppliedBefore, status: status, code: code,
                message: ConflictMessage.text(
                    code, serverItem: serverItem, reason: attempt.requests.reason),
                serverItem: serverItem)
            guard case .unordered(let pulled) = failure else { return failure.result(Result.failed) }
            return try await fetchRow(toDecide: reason, attempt, since: pulled, willSend)
        case .refused(let status, let code, let message):
            return try await fail(
                attempt, mayBeApplied: attempt.mayBeAppliedBefore, status: status, code: code,
                message: RefusalMessage.text(
                    code, status: status, message: message, table: definition.name,
                    below: context.client.url),
                parkAfter: Parking.limit(for: outcome, context.settings)
            ).result(Result.failed)
        case .notApplied:
            // The server has applied no attempt.
            try await context.write { transaction in
                _ = try completion(in: transaction).fail(mayBeApplied: false, status: nil, parkAfter: nil)
            }
            return try await sendOnce(willSend: willSend)
        case .unknown(let status, let message):
            let reason = message.map { ": \($0)" } ?? ""
            return try await fail(
                attempt, mayBeApplied: attempt.mayBeApplied, status: status, code: .serverError,
                message:
                    "The server did not confirm the change (status \(status)\(reason)). It will be sent again.",
                keepsConflict: !attempt.requests.hasWritten
            ).result(Result.unconfirmed)
        case .continues:
            // The row was fetched again to decide a delete, and is what this client has left.
            return try await sendOnce(willSend: willSend)
        case .rowNeeded, .unauthenticated, .unavailable:
            throw SyncError(.internalError, "The outcome of operation \(operationID) was not decided.")
        }
    }

    /// Stores the server's row as the result of an operation that is complete.
    func store(
        _ row: Item?, newest: Item? = nil, of attempt: OperationAttempt,
        willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        let mayRequest = attempt.followsUnknownOutcome || attempt.isProven || attempt.mayHavePulledRow
        if !mayRequest { permit?.release() }
        switch try await complete(attempt, with: row, receivedSince: newest, mayRequest: mayRequest) {
        case .completed(let item):
            return attempt.followsUnknownOutcome
                ? try await sendEdits(after: item, willSend: willSend) : .completed(item)
        case .unordered(let pulled):
            guard attempt.requests.isApplied, let row else {
                return try await fetchRow(toDecide: .versionMismatch, attempt, since: pulled, willSend)
            }
            var attempt = attempt
            attempt.operation.serverItem = pulled
            return try await storeNewest(after: row, attempt, willSend)
        }
    }

    /// Asks the server again, because it is unknown whether the row in its response is later than the one that a pull has
    /// received during the attempt.
    private func fetchRow(
        toDecide reason: ConflictReason, _ attempt: OperationAttempt, since pulled: Item,
        _ willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        var attempt = attempt
        attempt.operation.serverItem = pulled
        return try await finish(attempt, willSend: willSend) { [attempt] in
            try await attempt.fetchRow(toDecide: reason, status: reason.status)
        }
    }

    /// Sends the edits that the user made after an attempt that was only now proven to be applied.
    func sendEdits(
        after item: Item?, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        let exists = try await context.read { try $0.operation(id: operationID) != nil }
        return exists ? try await sendOnce(willSend: willSend) : .completed(item)
    }
}

// MARK: Storing

extension OperationSender {
    /// What storing a result has led to.
    private enum Completion {
        /// The item as it is stored; `nil` when it was deleted.
        case completed(Item?)
        /// Nothing was stored: see ``Failure/unordered(_:)``.
        case unordered(Item)
    }

    /// Stores the server's row as the result of the operation.
    ///
    /// - Parameters:
    ///   - newest: the state of the row that was fetched because it was unknown which state is the later one.
    ///   - mayRequest: whether the operation still has its permit, so that the row can be fetched.
    private func complete(
        _ attempt: OperationAttempt, with row: Item?, receivedSince newest: Item?, mayRequest: Bool
    ) async throws -> Completion {
        let (context, definition) = (context, definition)
        // A row that is gone may have been deleted by a request without response.
        let isGone = row?.system.deleted ?? true
        let (isApplied, known) = (attempt.requests.isApplied, attempt.operation.serverItem)
        let replaced = isGone ? attempt.requests.condition : attempt.requests.replaced
        let combined = context.settings.resolver(of: definition.name)?.combinedColumns ?? []
        return try await context.write(keepsMarks: true) { transaction in
            let completion = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID,
                combinedColumns: combined)
            let found = try transaction.operationAndNext(
                id: operationID, forItem: attempt.operation.itemID, in: definition.name)
            guard let (operation, behind) = found else { return .completed(nil) }
            let unordered =
                if !mayRequest {
                    Item?.none
                } else if isApplied {
                    completion.unorderedRow(
                        of: operation, beside: newest ?? row, known: known, replacing: replaced)
                } else {
                    operation.row(unorderedBeside: row, since: attempt.operation)
                }
            if let unordered { return .unordered(unordered) }
            try context.recordResult(newest ?? row, of: operation, in: transaction)
            return .completed(
                try completion.complete(
                    operation, before: behind, with: row, sent: attempt.proof.sent, known: known,
                    replacing: replaced, isProven: attempt.isProven, receivedSince: newest))
        }
    }

    /// What storing a failure has led to.
    private enum Failure {
        /// The operation stays pending with this error.
        case recorded(TableOperationError, TableOperation)
        /// The operation no longer exists: it and a later one have cancelled each other out.
        case cancelledOut
        /// Nothing was stored: a pull has received this state of the row during the attempt, and it is unknown whether it is
        /// later than the one in the response.
        case unordered(Item)

        func result(_ make: (TableOperationError) -> Result) -> Result {
            if case .recorded(let error, _) = self { make(error) } else { .skipped }
        }
    }

    /// Stores that the attempt failed, with its error.
    ///
    /// - Parameters:
    ///   - mayBeApplied: whether the server may have applied this attempt or an earlier one.
    ///   - limit: see ``Parking``.
    ///   - keepsConflict: whether a conflict stays recorded: see ``TableOperationError/keeping(_:)``.
    private func fail(
        _ attempt: OperationAttempt, mayBeApplied: Bool, status: Int?, code: SyncError.Code, message: String,
        serverItem: Item? = nil, parkAfter limit: Int? = nil, keepsConflict: Bool = false
    ) async throws -> Failure {
        let failure = try await context.write { transaction -> Failure in
            let isMissing = code == .itemNotOnServer
            let serverItem = try serverItem?.keepingColumns(of: transaction.operation(id: operationID)?.base)
            if serverItem != nil || isMissing {
                let operation = try transaction.operation(id: operationID)
                if let pulled = operation?.row(unorderedBeside: serverItem, since: attempt.operation) {
                    return .unordered(pulled)
                }
                // Only the error has the row, and may be removed: a page requested before is requested again.
                context.stalePageGuard.recordStored(
                    nil, id: attempt.operation.itemID, in: definition.name, from: StalePageGuard.pushes)
            }
            let completion = completion(in: transaction)
            let failed = try completion.fail(
                mayBeApplied: mayBeApplied, status: status, serverItem: serverItem, isMissing: isMissing,
                keepsStatus: attempt.keepsStatus, undeleted: attempt.undeletedRow, parkAfter: limit)
            guard let operation = failed else { return .cancelledOut }
            if isMissing || serverItem?.system.deleted == true, operation.kind == .delete {
                // The user has deleted the item since, and the server does not have the row.
                let behind = try transaction.operation(behind: operation)
                _ = try completion.complete(
                    operation, before: behind, with: nil, sent: attempt.proof.sent,
                    known: attempt.operation.serverItem)
                _ = try context.recordItem(of: operation, in: transaction)
                return .cancelledOut
            }
            var item = attempt.item
            if operation.revision != attempt.operation.revision {
                // The user has changed the item since: decisions are made about the current item.
                item = try transaction.item(id: operation.itemID, in: definition.name)
            }
            let earlier = keepsConflict ? try transaction.operationError(operationID: operationID) : nil
            let error = TableOperationError(
                operation, item: item ?? operation.deletedItem, serverItem: serverItem, status: status,
                code: code, message: message
            ).keeping(earlier)
            try transaction.put(error)
            return .recorded(error, operation)
        }
        if case .recorded(_, let operation) = failure { context.emitIfParked(operation) }
        return failure
    }

    /// Marks the operation as no longer in flight, and merges it with an edit that the user has made since the failure was
    /// stored: the edit was queued behind it.
    ///
    /// - Returns: the error for the operation as it is now; `nil` when the two have cancelled each other out, or the error has
    ///   been decided.
    private func mergeEdits(since error: TableOperationError) async throws -> TableOperationError? {
        return try await context.write { transaction in
            context.inFlight.remove(error.operationID)
            try completion(in: transaction).mergeBehind()
            guard let operation = try transaction.operation(id: error.operationID) else { return nil }
            guard operation.revision != error.revision else { return error }
            // Another process has decided the failure.
            guard try transaction.operationError(operationID: error.operationID) != nil else { return nil }
            let current = try error.updated(for: operation, in: transaction, definition)
            try transaction.put(current)
            return current
        }
    }

    /// Leaves the operation to the next push, without recording an error, and throws the error that ends this one. Returns
    /// when there is no ending.
    private func endPush(_ ending: PushEnding?, _ attempt: OperationAttempt) async throws {
        guard let ending else { return }
        try await leave(attempt, status: ending.status)
        throw ending.error
    }

    private func leave(_ attempt: OperationAttempt, status: Int?) async throws {
        try await context.write { transaction in
            let left = try completion(in: transaction).fail(
                mayBeApplied: attempt.mayBeApplied, status: status,
                keepsStatus: attempt.keepsStatus, undeleted: attempt.undeletedRow, parkAfter: nil)
            // A failure that was recorded before can still be decided: nothing was sent since that may have been applied.
            if let left, !attempt.requests.mayBeApplied, left.revision == attempt.operation.revision,
                let error = try transaction.operationError(operationID: operationID),
                error.revision == attempt.revisionBefore
            {
                try transaction.put(error.updated(for: left, in: transaction, definition))
            }
        }
    }

    func completion(in transaction: any StoreTransaction) -> AttemptCompletion {
        AttemptCompletion(
            transaction: transaction, definition: definition, operationID: operationID,
            tablesToPull: context.tablesToPull)
    }
}
