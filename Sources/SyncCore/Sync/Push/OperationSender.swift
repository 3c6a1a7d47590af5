// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Sends one operation: marks the attempt in the store, asks the server, and stores what the answer means.
struct OperationSender: Sendable {
    let context: SyncContext
    let definition: SyncTableDefinition
    let operationID: Int64
    /// The place to leave when the server has it, so that the next operation's turn begins before the result is stored;
    /// `nil` to keep it until then.
    let place: AsyncSemaphore.Place?
    /// Is told that the server has carried out an operation.
    let serverErrors: ServerErrorStreak

    /// What became of the operation.
    enum Outcome: Sendable {
        /// It is done; the item as it is stored now, or `nil` when it is gone.
        case completed(Item?)
        /// It stays pending, for this reason, which is in the error log.
        case failed(TableOperationError)
        /// It stays pending with this error, because the service did not confirm it.
        case unconfirmed(TableOperationError)
        /// It was collapsed away, or is not due: parked, or behind another operation of its item.
        case skipped
    }

    /// Sends the operation, again after failures that may pass and conflicts that a resolver decides, and stores
    /// the outcome.
    ///
    /// - Parameters:
    ///   - item: the item to send and store instead of the stored one, if the delegate gave one.
    ///   - original: the stored one as the delegate saw it; what the user has changed since stays.
    ///   - willSend: is told the change that each attempt sends.
    /// - Throws: ``SyncError`` with one of the codes that end a push; `CancellationError`.
    func send(
        item: Item? = nil, insteadOf original: Item? = nil,
        willSend: @Sendable (SeenChange) -> Void = { _ in }
    ) async throws -> Outcome {
        context.inFlight.insert(operationID)
        defer { context.inFlight.remove(operationID) }
        var outcome = try await sendOnce(item: item, insteadOf: original, willSend: willSend)
        for _ in 0..<context.settings.maxResolutions {
            guard case .failed(let error) = outcome, error.isConflict else { return outcome }
            let resolution = ConflictResolution(context: context, definition: definition, isInFlight: true)
            switch try await resolution.resolve(error) {
            case .unresolved(let error): return .failed(error)
            case .resolved(let item): return .completed(item)
            case .sendAgain: outcome = try await sendOnce(willSend: willSend)
            case .changed(let error): outcome = .failed(error)
            }
        }
        return outcome
    }

    private func sendOnce(
        item: Item? = nil, insteadOf original: Item? = nil, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Outcome {
        switch try await prepare(item: item, insteadOf: original) {
        case .skipped: return .skipped
        case .held(let error): return .failed(error)
        case .unneeded(let item): return .completed(item)
        case .attempt(let attempt):
            willSend(SeenChange(kind: attempt.operation.kind, item: attempt.item))
            let verdict: AttemptOutcome
            do {
                verdict = try await self.verdict(on: attempt)
            } catch let error as SyncError {
                return try await settle(attempt, failure: error)
            }
            return try await settle(attempt, verdict, willSend: willSend)
        }
    }

    /// Edits made after an attempt that is only now known to have succeeded go out at once.
    private func sendEdits(
        after item: Item?, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Outcome {
        let operationID = operationID
        let isThere = try await context.read { try $0.operation(id: operationID) != nil }
        return isThere ? try await sendOnce(willSend: willSend) : .completed(item)
    }

    // MARK: After the answer

    private func settle(
        _ attempt: Attempt, _ verdict: AttemptOutcome, willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Outcome {
        switch verdict {
        case .succeeded(let row):
            serverErrors.noteSuccess()
            if !attempt.wasAmbiguous { place?.leave() }
            let item = try await complete(attempt, with: row)
            return attempt.wasAmbiguous
                ? try await sendEdits(after: item, willSend: willSend) : .completed(item)
        case .conflict(let status, let serverItem):
            let isMissing = status == 404 || status == 410
            return try await fail(
                attempt, isApplied: false, status: status,
                code: isMissing ? .itemNotOnServer : .preconditionFailed,
                message: Self.conflictMessage(status: status), serverItem: serverItem
            ).map(Outcome.failed) ?? .skipped
        case .refused(let status, let code, let message):
            // A table that is missing is no property of the operation.
            let limit = code == .tableNotOnServer ? nil : context.settings.parkAfterRefusals
            return try await fail(
                attempt, isApplied: attempt.isAppliedIfRefused, status: status, code: code,
                message: refusalMessage(status: status, code: code, message: message), parkingAfter: limit
            ).map(Outcome.failed) ?? .skipped
        case .unknown(let status, let message):
            let reason = message.map { ": \($0)" } ?? ""
            return try await fail(
                attempt, isApplied: nil, status: status, code: .serverError,
                message:
                    "The server did not confirm the change (status \(status)\(reason)). It will be sent again."
            ).map(Outcome.unconfirmed) ?? .skipped
        case .unauthenticated:
            try await release(isApplied: attempt.isAppliedIfRefused, status: 401)
            let cause = SyncError(.authenticationRequired, "The server answered with status 401.")
            throw SyncError(
                .pushAbortedAuthentication, "The server requires the user to sign in.", cause: cause)
        case .unavailable(let status, let message, let retryAfter):
            try await release(isApplied: nil, status: status)
            throw unavailable(status: status, message: message, retryAfter: retryAfter)
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
        case .invalidConfiguration:
            // No request of this client can be sent: that says nothing about the operation.
            try await release(isApplied: attempt.isAppliedIfRefused, status: nil)
            throw error
        default:
            return try await fail(
                attempt, isApplied: attempt.isAppliedIfRefused, status: nil, code: error.code,
                message: error.message
            ).map(Outcome.failed) ?? .skipped
        }
    }

    private func unavailable(status: Int, message: String?, retryAfter: String?) -> SyncError {
        let delay = retryAfter.flatMap { RetryAfter($0, now: context.environment.now())?.delay }
        let cause = SyncError.serviceUnavailable(status: status, message: message, retryAfter: delay)
        return SyncError(
            .pushAbortedService, cause.message, cause: cause, mayRetry: true, retryAfter: delay)
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

    /// Stores the row as the operation's result: see ``AttemptCompletion/complete(with:sent:known:)``.
    private func complete(_ attempt: Attempt, with row: Item?) async throws -> Item? {
        let (context, definition, operationID) = (context, definition, operationID)
        return try await context.write { transaction in
            if let id = try row?.id ?? transaction.operation(id: operationID)?.itemID {
                context.stalePageGuard.recordStored(
                    row, id: id, in: definition.name, from: StalePageGuard.pushes)
            }
            if context.isStoreShared, row?.system.deleted ?? true,
                let operation = try transaction.operation(id: operationID)
            {
                try SharedStorePull.recordRemoval(
                    of: row ?? operation.newestServerItem, id: operation.itemID, table: definition.name,
                    at: context.environment.now(), in: transaction)
            }
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            return try effects.complete(
                with: row, sent: attempt.proof, known: attempt.operation.serverItem,
                isProven: attempt.wasAmbiguous || attempt.repetition.hasHappened)
        }
    }

    /// Stores that the attempt failed, with its error.
    ///
    /// - Parameter limit: after how many refusals the operation is parked; `nil` when this was none.
    /// - Returns: the error; `nil` when the operation has merged with a later one into nothing.
    private func fail(
        _ attempt: Attempt, isApplied: Bool?, status: Int?, code: SyncError.Code, message: String,
        serverItem: Item? = nil, parkingAfter limit: Int? = nil
    ) async throws -> TableOperationError? {
        let (definition, operationID) = (definition, operationID)
        return try await context.write { transaction in
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            guard
                let operation = try effects.fail(isApplied: isApplied, status: status, parkingAfter: limit)
            else { return nil }
            var item = attempt.item
            if operation.revision != attempt.operation.revision {
                // The user has changed the item meanwhile: decisions are made about what is there now.
                item = try transaction.item(id: operation.itemID, in: definition.name)
            }
            let failure = TableOperationError(
                operation, item: item ?? operation.deletedItem, serverItem: serverItem, status: status,
                code: code, message: message)
            try transaction.put(failure)
            return failure
        }
    }

    /// Leaves the operation to the next push: what failed is not its own.
    private func release(isApplied: Bool?, status: Int?) async throws {
        let (definition, operationID) = (definition, operationID)
        try await context.write { transaction in
            let effects = AttemptCompletion(
                transaction: transaction, definition: definition, operationID: operationID)
            _ = try effects.fail(isApplied: isApplied, status: status, parkingAfter: nil)
        }
    }
}
