// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Sends a request: once more with a new token after 401, and again after transient failures, as ``RetryPolicy`` and
    /// ``RetryBudget`` permit. After the context has been closed, nothing is sent: another context may send the operations of
    /// the store then.
    ///
    /// - Parameters:
    ///   - mayRepeat: whether the request is sent again after transient failures.
    ///   - requests: records each time the request is sent.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/networkUnavailable`` when the last request had no response, or
    ///   ``SyncError/Code/contextInvalid``; `CancellationError`.
    func send(
        _ call: RemoteCall, mayRepeat: Bool = true, recordingIn requests: SentRequests? = nil
    ) async throws -> RemoteResponse {
        var attempt = 1
        while true {
            try requireOpen()
            try Task.checkCancellation()
            requests?.recordWrite()
            let result: Result<RemoteResponse, SyncError>
            do {
                let response = try await sendOnce(call, recordingIn: requests)
                if response.classification == .done { retryBudget.earn() }
                if response.isOfRepeatedRequest { requests?.recordRepetition() }
                if ResponseClassification.isUnprocessed(response.status) { requests?.recordUnprocessed() }
                guard response.isTransient, response.exceededLimit == nil else { return response }
                result = .success(response)
            } catch let error as SyncError {
                if !error.mayHaveReachedServer { requests?.recordUnsent() }
                guard error.mayRetry, error.code != .authenticationRequired else { throw error }
                result = .failure(error)
            }
            let delay = settings.retry.delay(
                afterAttempt: attempt, retryAfter: (try? result.get())?.retryAfter, now: environment.now(),
                jitter: environment.jitter)
            guard mayRepeat, let delay, retryBudget.spend() else { return try result.get() }
            let status = (try? result.get())?.status
            emit(.retry(.init(call, status: status, attempt: attempt, delay: delay)))
            try await environment.sleep(delay)
            attempt += 1
        }
    }
}
