// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Makes a call, once more with a new token after 401, and again after failures that may pass.
    ///
    /// - Parameter willRepeat: called before the call is made again although it may have been acted on.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/networkUnavailable`` when there was no answer in the end;
    ///   `CancellationError`.
    func ask(_ call: RemoteCall, willRepeat: () -> Void = {}) async throws -> RemoteResponse {
        var attempt = 1
        while true {
            let outcome: Result<RemoteResponse, SyncError>
            do {
                let answer = try await self.attempt(call)
                if answer.isSuccess { retryBudget.earn() }
                guard answer.isTransient, answer.exceededLimit == nil else { return answer }
                outcome = .success(answer)
            } catch let error as SyncError where error.mayRetry {
                outcome = .failure(error)
            }
            let delay = settings.retry.delay(
                afterAttempt: attempt, retryAfter: (try? outcome.get())?.retryAfter, now: environment.now(),
                random: environment.random())
            guard let delay, retryBudget.spend() else { return try outcome.get() }
            willRepeat()
            try await environment.sleep(delay)
            attempt += 1
        }
    }
}
