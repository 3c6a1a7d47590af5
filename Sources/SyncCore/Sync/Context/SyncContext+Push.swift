// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Sends the pending operations to the server, in the order of the queue.
    ///
    /// Pushes run one after the other, also those of several processes that share a store. Local reads and writes go on meanwhile; changes made during the push are pushed
    /// too. An operation that fails does not hold up those of other items: its error is recorded in the error log,
    /// and all errors are thrown at the end, together with those of operations that are parked, in conflict, or held
    /// behind such a one. A push that returns has left nothing behind that needs a decision.
    ///
    /// Operations of a table that the app no longer declares stay pending and are listed in the result.
    ///
    /// - Parameters:
    ///   - tables: the tables whose operations to send; `nil` sends all.
    ///   - budget: how much to do; what remains stays pending.
    /// - Returns: how many operations were completed.
    /// - Throws: ``SyncError`` with ``SyncError/pushResult``: ``SyncError/Code/pushCompletedWithErrors``,
    ///   ``SyncError/Code/pushAbortedNetwork``, ``SyncError/Code/pushAbortedAuthentication``,
    ///   ``SyncError/Code/pushAbortedService``, ``SyncError/Code/pushAbortedStore`` or
    ///   ``SyncError/Code/pushAbortedCancelled``. `CancellationError` when the
    ///   task is cancelled. Operations that were not completed stay pending. ``SyncError/Code/invalidOperation`` when
    ///   the context's own delegate or resolver calls this, ``SyncError/Code/unknownTable``; then nothing is sent.
    @discardableResult
    public func push(
        tables: Set<String>? = nil, budget: PushBudget = PushBudget()
    ) async throws -> PushResult {
        for table in tables ?? [] { _ = try definition(of: table) }
        guard !RunningPushes.ofTask.contains(ObjectIdentifier(self)) else {
            throw SyncError(
                .invalidOperation, "A delegate or resolver cannot push the context that waits for it.")
        }
        return try await pushMutex.take {
            let running = RunningPushes.ofTask.union([ObjectIdentifier(self)])
            return try await RunningPushes.$ofTask.withValue(running) {
                try await withPushLock {
                    try await run(PushRun(context: self, tables: tables, budget: budget))
                }
            }
        }
    }

    private func run(_ push: PushRun) async throws -> PushResult {
        activity.begin(.push)
        var outcome: Result<Timestamp, SyncError>?
        defer { activity.end(.push, outcome) }
        var run = push
        var abort: SyncError?
        do {
            try await run.run()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            abort = Self.abort(for: error)
        }
        var result = await report(of: run, abort: abort)
        if let delegate {
            await delegate.syncContext(self, didCompletePush: result)
            result = await report(of: run, abort: result.abortReason)
        }
        if let failure = Self.failure(of: result) {
            outcome = .failure(failure)
            throw failure
        }
        outcome = .success(environment.now())
        return result
    }

    /// The result of the push with what is left to report now: errors of the push that are still in the error log, and
    /// those of operations that are blocked, which no push passes over in silence; in the order of the queue.
    private func report(of run: PushRun, abort: SyncError?) async -> PushResult {
        var result = run.result
        result.abortReason = abort
        let (errors, tables) = (result.errors, run.tables)
        do {
            let found = try await read { snapshot in
                let unresolved = try errors.filter {
                    try snapshot.operationError(operationID: $0.operationID) == $0
                }
                let known = Set(unresolved.map(\.operationID))
                let blocked = try snapshot.blockedOperations(in: tables).map(\.error)
                return unresolved + blocked.filter { !known.contains($0.operationID) }
            }
            result.errors = found
        } catch {
            result.abortReason = abort ?? Self.abort(for: error)
        }
        result.errors += run.errorsAfterCompletion
        result.errors.sort { $0.operationID < $1.operationID }
        return result
    }

    /// What a push with this result throws, if anything.
    private static func failure(of result: PushResult) -> SyncError? {
        if let abort = result.abortReason {
            return SyncError(
                abort.code, abort.message, cause: PushFailure(result: result, underlying: abort.cause),
                mayRetry: abort.mayRetry, retryAfter: abort.retryAfter)
        }
        // Operations of a table that the app no longer declares are listed, and fail no push of other tables.
        let count = result.errors.count { $0.code != .unknownTable }
        guard count > 0 else { return nil }
        return SyncError(
            .pushCompletedWithErrors,
            "Not all operations completed successfully: \(count == 1 ? "one" : "\(count)") failed.",
            cause: PushFailure(result: result, underlying: nil))
    }

    /// The push's own error for whatever ended it.
    private static func abort(for error: any Error) -> SyncError {
        switch error {
        case let error as SyncError where error.code == .storeFailure:
            SyncError(.pushAbortedStore, "The push ended because the local store failed.", cause: error.cause)
        case let error as SyncError: error
        default: SyncError(.internalError, "The push ended unexpectedly.", cause: error)
        }
    }
}

/// The contexts that the present task is pushing: to wait for one of them would be to wait for oneself.
private enum RunningPushes {
    @TaskLocal static var ofTask: Set<ObjectIdentifier> = []
}
