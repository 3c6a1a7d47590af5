// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Whether events have a reader: the app's hook or its log.
    var isObserved: Bool { settings.onEvent != nil || client.log != nil }

    /// Passes an event to the app's hook and log. Without them, nothing is evaluated.
    ///
    /// - Parameter details: what the log holds and the hook does not.
    func emit(_ event: @autoclosure () -> SyncEvent, _ details: @autoclosure () -> SyncLog.Details = .init())
    {
        guard isObserved else { return }
        let event = event()
        if let onEvent = settings.onEvent { RunningCall.runWithoutCalls { onEvent(event) } }
        client.log?.record(event, details())
    }

    /// Emits the end of a round of an automatic sync.
    package func emitRoundEnded(
        _ cause: SyncEvent.RoundCause, _ outcome: SyncEvent.Outcome, since startTime: Timestamp
    ) {
        emit(
            .roundEnded(
                SyncEvent.RoundEnded(cause: cause, outcome: outcome, duration: elapsed(since: startTime))))
    }

    /// The time since that instant, by the client's clock; zero if the clock was set back.
    func elapsed(since start: Timestamp) -> Duration {
        max(.zero, environment.now().since(start))
    }

    /// - Throws: ``SyncError/Code/contextInvalid`` after the context was closed.
    func requireOpen() throws {
        if commits.isFinished { throw SyncError.contextClosed() }
    }

    /// Sends a request without retries, but with a new token after 401, and emits an event.
    ///
    /// - Throws: the errors of ``SyncClient/sendRefreshing(_:willRefresh:willRepeat:)``.
    func sendOnce(
        _ call: RemoteCall, recordingIn requests: SentRequests? = nil
    ) async throws -> RemoteResponse {
        func send() async throws -> RemoteResponse {
            try await client.sendRefreshing(
                call,
                willRefresh: { response in
                    if response.isOfRepeatedRequest { requests?.recordRepetition() }
                    requests?.recordUnsent()
                },
                willRepeat: {
                    try requireOpen()
                    requests?.recordWrite()
                })
        }
        guard isObserved else { return try await send() }
        let start = environment.now()
        do {
            let response = try await send()
            emit(.request(.init(call, status: response.status, duration: elapsed(since: start))))
            return response
        } catch let error as SyncError where error.code == .networkUnavailable {
            emit(.request(.init(call, status: nil, duration: elapsed(since: start))))
            throw error
        }
    }
}

extension SyncLog.Details {
    init(_ operation: TableOperation, code: SyncError.Code? = nil) {
        self.init(operationID: operation.id, itemID: operation.itemID, code: code)
    }
}

extension SyncEvent.Request {
    init(_ call: RemoteCall, status: Int?, duration: Duration) {
        self.init(table: call.table, kind: call.kind, status: status, duration: duration)
    }
}

extension SyncEvent.Retry {
    /// - Parameter attempt: how often the request has failed so far.
    init(_ call: RemoteCall, status: Int?, attempt: Int, delay: Duration) {
        self.init(table: call.table, kind: call.kind, status: status, attempt: attempt, delay: delay)
    }
}

extension SyncEvent.ConflictDecided {
    /// - Parameter decision: `nil` when there is no resolver.
    init(_ operation: TableOperation, _ decision: ConflictDecision?) {
        let word: Decision =
            switch decision {
            case .keepServer: .keepServer
            case .keepClient: .keepClient
            case .merge: .merge
            case .keepPending, nil: .keepPending
            }
        self.init(table: operation.table, kind: operation.kind, decision: word)
    }
}

extension SyncEvent.Parked {
    init(_ operation: TableOperation) {
        self.init(table: operation.table, kind: operation.kind, status: operation.lastStatus)
    }
}

extension SyncEvent.PushEnded {
    /// - Parameters:
    ///   - abort: the error that ended the push early.
    ///   - hasErrors: whether operations have failed, now or before.
    init(
        _ operations: [SyncEvent.OperationGroup: Int], abort: (any Error)? = nil, hasErrors: Bool,
        duration: Duration
    ) {
        self.init(
            outcome: SyncEvent.Outcome(abort, hasFailures: hasErrors), operations: operations,
            duration: duration)
    }
}

extension SyncEvent.PullEnded {
    /// - Parameter error: the error that ended the pull early.
    init(_ table: String, _ result: PullResult, error: (any Error)? = nil, duration: Duration) {
        self.init(
            table: table, outcome: SyncEvent.Outcome(error, hasFailures: !result.pushErrors.isEmpty),
            rows: SyncEvent.RowCounts(result), duration: duration)
    }
}

extension SyncEvent.Outcome {
    fileprivate init(_ error: (any Error)?, hasFailures: Bool) {
        self =
            switch error {
            case is CancellationError: .cancelled
            case nil: hasFailures ? .completedWithErrors : .completed
            default: .aborted
            }
    }
}

extension SyncEvent.RowCounts {
    init(_ result: PullResult) {
        self.init(
            upserted: result.upserted, deleted: result.deleted, unchanged: result.unchanged,
            skippedAsPending: result.skippedAsPending)
    }

    /// The counts of one page: the difference between two results of a pull.
    init(_ result: PullResult, since earlier: PullResult) {
        self.init(
            upserted: result.upserted - earlier.upserted, deleted: result.deleted - earlier.deleted,
            unchanged: result.unchanged - earlier.unchanged,
            skippedAsPending: result.skippedAsPending - earlier.skippedAsPending)
    }
}
