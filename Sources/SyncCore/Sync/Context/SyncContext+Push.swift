// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Sends the pending operations to the server, in the order of the queue. Parents and children are
    /// ordered as ``SyncTableDefinition/parents`` requires, and operations that failed before are last.
    ///
    /// Pushes run one at a time, also those of several processes that share a store. Local reads and writes
    /// do not wait for them, and changes made during the push are sent too. An operation that fails does not
    /// delay those of other items: its error is recorded in the error log. At the end the push throws these
    /// errors, also those of refused operations, together with the errors of all other operations that are in
    /// conflict, parked or held.
    ///
    /// When a push returns, none of the operations that it sent needs a decision. Operations of other tables
    /// or beyond the budget stay pending. So do operations of a table that the app no longer declares; these
    /// are listed in the result.
    ///
    /// - Parameters:
    ///   - tables: the tables whose operations to send; `nil` sends all.
    ///   - budget: how much to send; the other operations stay pending.
    /// - Returns: the result.
    /// - Throws: ``SyncError`` with ``SyncError/pushResult``: ``SyncError/Code/pushCompletedWithErrors``,
    ///   ``SyncError/Code/pushAbortedNetwork``, ``SyncError/Code/pushAbortedAuthentication``,
    ///   ``SyncError/Code/pushAbortedService``, ``SyncError/Code/pushAbortedStore``,
    ///   ``SyncError/Code/pushAbortedCancelled``, ``SyncError/Code/invalidConfiguration``,
    ///   ``SyncError/Code/storeOfAnotherUser`` or ``SyncError/Code/contextInvalid``. `CancellationError` when the task is
    ///   cancelled. Operations that were not completed stay pending. ``SyncError/Code/invalidOperation`` when the context's
    ///   own delegate or resolver calls this, ``SyncError/Code/unknownTable``; then nothing is sent.
    @discardableResult
    public func push(
        tables: Set<String>? = nil, budget: PushBudget = PushBudget()
    ) async throws -> PushResult {
        try await push(tables: tables, budget: budget) { _ in }
    }

    /// Sends the pending operations: see ``push(tables:budget:)``.
    ///
    /// - Parameter onCancellation: receives the result until then when the task is cancelled during the push.
    package func push(
        tables: Set<String>? = nil, budget: PushBudget, onCancellation: (PushResult) -> Void
    ) async throws -> PushResult {
        for table in tables ?? [] { _ = try definition(of: table) }
        guard !RunningCall.isRunning(of: self) else {
            throw SyncError(
                .invalidOperation, "A delegate or resolver cannot push the context that is waiting for it.")
        }
        return try await pushMutex.withLock {
            try await RunningCall.run(of: self) {
                do {
                    return try await withPushLock {
                        try await run(PushRun(context: self, tables: tables, budget: budget), onCancellation)
                    }
                } catch let error as SyncError where error.pushResult == nil {
                    // The lock of the store could not be acquired.
                    let failure = failure(of: PushResult(abortReason: error)) ?? error
                    activity.begin(.push)
                    activity.end(.push, .failure(failure))
                    throw failure
                }
            }
        }
    }

    private func run(
        _ push: PushRun, _ onCancellation: (PushResult) -> Void
    ) async throws -> PushResult {
        activity.begin(.push)
        var outcome: Result<Timestamp, SyncError>?
        defer { activity.end(.push, outcome) }
        let startTime = isObserved ? environment.now() : nil
        var run = push
        var ending: SyncError?
        do {
            try await run.run()
        } catch is CancellationError {
            emitEnd(of: run, since: startTime, CancellationError(), hasErrors: false)
            onCancellation(run.result)
            throw CancellationError()
        } catch {
            ending = PushEnding.pushError(for: error)
        }
        var result = await report(of: run, ending: ending)
        emitEnd(of: run, since: startTime, result.abortReason, hasErrors: failure(of: result) != nil)
        if let delegate {
            await delegate.syncContext(self, didCompletePush: result)
            result = await report(of: run, ending: result.abortReason)
        }
        if let failure = failure(of: result) {
            outcome = .failure(failure)
            throw failure
        }
        outcome = .success(environment.now())
        return result
    }

    private func emitEnd(
        of run: PushRun, since startTime: Timestamp?, _ error: (any Error)?, hasErrors: Bool
    ) {
        guard let startTime else { return }
        let duration = elapsed(since: startTime)
        emit(
            .pushEnded(.init(run.counts, abort: error, hasErrors: hasErrors, duration: duration)),
            .init(code: (error as? SyncError)?.code))
    }

    /// Returns the result of the push with the errors that are unresolved now, in queue order: errors of this push that
    /// are still in the error log, and those of waiting operations.
    private func report(of run: PushRun, ending: SyncError?) async -> PushResult {
        var result = run.result
        result.abortReason = ending
        let (errors, tables, catalog) = (result.errors, run.tables, catalog)
        do {
            let found = try await read { snapshot in
                let unresolved = try errors.filter {
                    try snapshot.operationError(operationID: $0.operationID) == $0
                }
                let known = Set(unresolved.map(\.operationID))
                let waiting = try snapshot.waitingOperations(in: tables, of: catalog).map(\.error)
                // The app decides about the error in the log: it must show the operation as it is now.
                let outdated = try waiting.filter { error in
                    try snapshot.operationError(operationID: error.operationID).map { $0 != error } ?? false
                }
                let others = waiting.filter { !known.contains($0.operationID) }
                return (errors: unresolved + others, outdated: outdated)
            }
            result.errors = found.errors
            for error in found.outdated { try await record(error) }
        } catch {
            result.abortReason = ending ?? PushEnding.pushError(for: error)
        }
        result.errors += run.errorsAfterCompletion
        result.errors.sort { $0.operationID < $1.operationID }
        return result
    }

    /// Returns the error that a push with this result throws, if any.
    private func failure(of result: PushResult) -> SyncError? {
        if let ending = result.abortReason { return ending.with(result) }
        // Operations of a table that the app no longer declares are listed, and do not fail pushes of other tables.
        let errors = result.errors.filter { catalog.contains($0.table) }
        let isHeld = { (error: TableOperationError) in error.code == .operationHeld }
        guard let first = errors.first(where: { !isHeld($0) }) ?? errors.first else { return nil }
        let (conflicts, held) = (errors.count { $0.isConflict }, errors.count(where: isHeld))
        let counts = [
            (conflicts, "in conflict"), (errors.count - conflicts - held, "failed"),
            (held, held == 1 ? "waits for another" : "wait for others"),
        ]
        let states = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return SyncError(
            .pushCompletedWithErrors, "Not all operations were completed: \(states). \(first.message)",
            cause: PushFailure(result: result, underlying: nil))
    }
}

extension SyncError {
    /// Returns the error with the result of a push: see ``pushResult``.
    package func with(_ result: PushResult) -> SyncError {
        // An error without a cause is its own cause, so that each failure of a push has a description.
        SyncError(
            code, message, cause: PushFailure(result: result, underlying: cause ?? self), mayRetry: mayRetry,
            retryAfter: retryAfter)
    }
}
