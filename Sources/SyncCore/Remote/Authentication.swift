// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The token of the signed-in user, and its refresh.
package final class Authentication: Sendable {
    /// A token with its generation, which increases with every change.
    struct Credential {
        var token: String?
        var generation = 0
    }

    /// How many refreshes have failed, and the last failure; `nil` if the app had no token.
    private struct Failures {
        var count = 0
        /// The generation of the token that the last one was to replace.
        var generation = 0
        var last: SyncError?
    }

    /// The callers that wait for a token, by number.
    private struct Waiters {
        var last = 0
        var results: [Int: AsyncStream<Result<Bool, any Error>>.Continuation] = [:]
    }

    private let credential = Mutex(Credential())
    private let failures = Mutex(Failures())
    private let refreshMutex = AsyncMutex()
    private let waiters = Mutex(Waiters())
    /// What observers are told.
    package enum Change: Sendable {
        /// The app has set another token that is not `nil`, and no request waits for a refresh.
        case setByApp
        /// The server has accepted a token that requests have waited for: the user has signed in, or the token was renewed.
        case accepted
    }

    /// The closures of ``addObserver(_:)``, by their numbers.
    private let observers = Mutex((last: 0, calls: [Int: @Sendable (Change) -> Void]()))
    /// The generation of the newest token that observers know to be accepted, or that the app has set.
    private let knownGeneration = Mutex(0)
    private let refresh: (@Sendable () async throws -> String?)?
    private let executor = Authentication.executor

    /// Where the refreshes of a client that is made now run, for simulations, which schedule every task; `nil` for the default.
    @TaskLocal package static var executor: (any TaskExecutor)?

    init(refresh: (@Sendable () async throws -> String?)?) {
        self.refresh = refresh
    }

    var current: Credential { credential.withLock { $0 } }

    /// Sets the token. The same one again is no other token: a request that was refused with it needs a refresh.
    ///
    /// Callers that wait for a refresh continue with the new token: the refresh may never return.
    func set(_ token: String?) {
        let changed = credential.withLock { credential -> Credential? in
            guard credential.token != token else { return nil }
            credential = Credential(token: token, generation: credential.generation + 1)
            return credential
        }
        guard let changed else { return }
        let results = waiters.withLock { $0.results.values.map(\.self) }
        for result in results { result.yield(.success(token != nil)) }
        // Requests that wait for a refresh continue with the token, which the refresh itself may have set: that is no sign-in.
        guard results.isEmpty, token != nil else { return }
        notify(.setByApp, of: changed.generation)
    }

    /// Records that the server has accepted a request that was repeated with a new token.
    func recordAcceptance(ofGeneration generation: Int) { notify(.accepted, of: generation) }

    /// Tells the observers about each token once.
    private func notify(_ change: Change, of generation: Int) {
        let isNew = knownGeneration.withLock { known in
            defer { known = max(known, generation) }
            return generation > known
        }
        guard isNew else { return }
        for call in observers.withLock({ $0.calls.values.map(\.self) }) { call(change) }
    }

    /// Calls the closure when there is a new token.
    ///
    /// - Returns: a number for ``removeObserver(_:)``.
    package func addObserver(_ call: @escaping @Sendable (Change) -> Void) -> Int {
        observers.withLock { observers in
            observers.last += 1
            observers.calls[observers.last] = call
            return observers.last
        }
    }

    package func removeObserver(_ number: Int) {
        observers.withLock { _ = $0.calls.removeValue(forKey: number) }
    }

    /// Gets a new token from the app, one caller at a time, because a refresh token can often be used only once. Callers
    /// that waited for another refresh of the same token share its token or its failure. A refresh also continues when its
    /// caller is cancelled: it may have used up the refresh token. A request of the refresh itself is not sent again.
    ///
    /// - Returns: whether a token of another generation is available.
    /// - Throws: `CancellationError` as soon as the caller is cancelled.
    func refresh(after generation: Int) async throws -> Bool {
        guard let refresh, !RunningCall.isRunning(of: self) else {
            return hasOtherToken(than: generation) ?? false
        }
        try Task.checkCancellation()
        let (results, result) = AsyncStream.makeStream(of: Result<Bool, any Error>.self)
        let failureCount = failures.withLock(\.count)
        let number = waiters.withLock { waiters in
            waiters.last += 1
            waiters.results[waiters.last] = result
            return waiters.last
        }
        defer { waiters.withLock { _ = $0.results.removeValue(forKey: number) } }
        // The app may have set a token before this caller was registered.
        if let hasOther = hasOtherToken(than: generation) { return hasOther }
        Task(executorPreference: executor) {
            do {
                result.yield(.success(try await self.run(refresh, after: generation, failureCount)))
            } catch { result.yield(.failure(error)) }
        }
        for await result in results { return try result.get() }
        throw CancellationError()
    }

    /// - Parameter failureCount: how many refreshes had failed when the caller began to wait.
    private func run(
        _ refresh: @Sendable () async throws -> String?, after generation: Int, _ failureCount: Int
    ) async throws -> Bool {
        try await refreshMutex.withLock {
            if let hasOther = hasOtherToken(than: generation) { return hasOther }
            let failures = failures.withLock(\.self)
            if failures.count > failureCount, failures.generation == generation {
                if let failure = failures.last { throw failure }
                return false
            }
            let refreshed: String?
            do { refreshed = try await token(from: refresh, after: generation) } catch {
                // The app may have set a token although its refresh has failed.
                if hasOtherToken(than: generation) == true { return true }
                throw error
            }
            guard let token = refreshed else { return hasOtherToken(than: generation) ?? false }
            return credential.withLock { credential in
                // If the app has set a token during the refresh, that one is newer.
                if credential.generation == generation {
                    credential = Credential(token: token, generation: generation + 1)
                }
                return credential.token != nil
            }
        }
    }

    /// Whether there is a token of another generation; `nil` if the current token has that generation.
    private func hasOtherToken(than generation: Int) -> Bool? {
        let current = current
        return current.generation == generation ? nil : current.token != nil
    }

    private func token(
        from refresh: @Sendable () async throws -> String?, after generation: Int
    ) async throws -> String? {
        var failure: SyncError?
        do {
            if let token = try await RunningCall.run(of: self, refresh) { return token }
        } catch {
            // An app that cannot refresh returns nil. An error can be one of the network: another attempt may succeed.
            let isFinal = (error as? SyncError)?.code == .authenticationRequired
            failure = SyncError(
                .authenticationRequired, "The server requires a new token, and refreshing it failed.",
                cause: error, mayRetry: !isFinal)
        }
        failures.withLock { $0 = Failures(count: $0.count + 1, generation: generation, last: failure) }
        if let failure { throw failure }
        return nil
    }
}
