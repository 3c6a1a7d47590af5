// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Sends the pending operations to the server, in the order of the queue.
    ///
    /// Pushes run one after the other, also those of several processes that share a store. Local reads and writes go on meanwhile; changes made during the push are pushed
    /// too. An operation that fails does not hold up those of other items: its error is recorded in the error log,
    /// and all errors are thrown at the end.
    ///
    /// - Parameters:
    ///   - tables: the tables whose operations to send; `nil` sends all.
    ///   - budget: how much to do; what remains stays pending.
    /// - Returns: how many operations were completed.
    /// - Throws: ``SyncError`` with ``SyncError/pushResult``: ``SyncError/Code/pushCompletedWithErrors``,
    ///   ``SyncError/Code/pushAbortedNetwork``, ``SyncError/Code/pushAbortedAuthentication``,
    ///   ``SyncError/Code/pushAbortedStore`` or ``SyncError/Code/pushAbortedCancelled``. `CancellationError` when the
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
        return try await pushGate.take {
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
        if let failure = await finish(run.result, abort: abort) {
            outcome = .failure(failure)
            throw failure
        }
        outcome = .success(environment.now())
        return run.result
    }

    /// Tells the delegate, and returns what is left to throw.
    private func finish(_ result: PushResult, abort: SyncError?) async -> SyncError? {
        var result = result
        result.abortReason = abort
        if let delegate {
            await delegate.syncContext(self, didCompletePush: result)
            result.errors = await unresolved(result.errors)
        }
        if let abort {
            return SyncError(
                abort.code, abort.message, cause: PushFailure(result: result, underlying: abort.cause),
                mayRetry: abort.mayRetry)
        }
        guard !result.errors.isEmpty else { return nil }
        let count = result.errors.count
        return SyncError(
            .pushCompletedWithErrors,
            "Not all operations completed successfully: \(count == 1 ? "one" : "\(count)") failed.",
            cause: PushFailure(result: result, underlying: nil))
    }

    /// Those of the errors that are still in the error log.
    private func unresolved(_ errors: [TableOperationError]) async -> [TableOperationError] {
        let logged = try? await read { snapshot in
            try errors.filter { try snapshot.operationError(operationID: $0.operationID) == $0 }
        }
        return logged ?? errors
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
