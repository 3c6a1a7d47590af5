// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore
import Synchronization

/// Pushes and pulls by itself: after local changes, at intervals, when the app or the network returns, and when the server
/// has changes.
///
/// ```swift
/// let sync = AutoSync(
///     context, pulls: [TodoList.all.pull(every: .seconds(300)), Todo.all.pull(every: .seconds(300))])
/// await sync.run()
/// ```
///
/// One round runs at a time: a push, then the pulls, parents first. What is requested during a round leads to one more
/// round. See <doc:AutomaticSync> for the rules and delays.
public final class AutoSync: Sendable {
    struct Control {
        var schedule: SyncSchedule
        /// The callers that wait for a round, also those whose round is running.
        var requests: [RoundRequest] = []
        /// Whether ``AutoSync/run()`` is running.
        var isRunning = false
        /// The plans that have been pulled.
        var pulledPlans: Set<Int> = []
        /// The plans whose last pull has failed.
        var failedPlans: [Int: PlanFailure] = [:]
        /// The number of operations that were held after the push of the last round, or the lower number seen since; `nil` if
        /// none were.
        var heldAfterPush: Int?
        /// Whether the last request to the change feed has found no server.
        var isFeedWithoutServer = false
    }

    let context: SyncContext
    let plans: [PullPlan]
    let control: Mutex<Control>
    let feed = StateFeed()
    let wakeup = Wakeup()
    let settings: Settings
    /// Ends the pauses of the requests to the change feed.
    let feedWakeup = Wakeup()
    /// Serializes rounds.
    let roundMutex = AsyncMutex()
    /// Held while the pending operations are read and shown, so that no later state is replaced by an earlier one.
    let showingMutex = AsyncMutex()
    let roundParts = RoundParts()
    private let runMutex = AsyncMutex()

    /// Makes an automatic sync of a context. Make one per context.
    ///
    /// - Parameters:
    ///   - context: the context to push and pull.
    ///   - pulls: the rows to pull. Those of parents are pulled before those of their children.
    ///   - settings: the delays, and whether the sync follows the server.
    public init(_ context: SyncContext, pulls: [PullPlan], settings: Settings = Settings()) {
        self.context = context
        self.settings = settings
        plans = pulls
        // The pull of a plan that is not valid reports its error.
        let schedule = SyncSchedule(
            plans: pulls.map { ($0.query.table, $0.interval) }, order: context.parentsFirst(pulls),
            settings: settings)
        control = Mutex(Control(schedule: schedule))
    }

    /// The current state.
    public var state: State { feed.state }

    /// The current state, and each different one after it; a reader that is busy receives the newest. Each reader needs a
    /// separate sequence.
    public var states: AsyncStream<State> { feed.stream() }

    /// Syncs until the task is cancelled or the context is closed. A second call waits until the first one has ended.
    public func run() async {
        // Only the wait for another call throws.
        try? await runMutex.withLock {
            let authentication = context.client.authentication
            let observer = authentication.addObserver { change in
                switch change {
                case .setByApp: self.signal(.signedIn)
                case .accepted: self.recordAcceptedToken()
                }
            }
            defer { authentication.removeObserver(observer) }
            await runRounds()
        }
    }

    private func recordAcceptedToken() {
        control.withLock { $0.schedule.recordAcceptedToken(at: now) }
        wakeup.signal()
        feedWakeup.signal()
    }

    /// Reports a change of the app, the network, the user or the server. Returns immediately.
    public func signal(_ signal: Signal) {
        control.withLock { $0.schedule.record(signal, at: now) }
        wakeup.signal()
        if case .serverHint = signal { return }
        feedWakeup.signal()
    }

    /// Pushes and pulls now, for example after the user has pulled to refresh. No delay prevents this.
    ///
    /// When a round is running, the next one begins after it. Callers that wait at the same time share a round. A delegate or
    /// resolver must not call this: the round waits for it.
    ///
    /// - Returns: what the round has done; the pulls in the order of the plans.
    /// - Throws: the errors of `SyncContext.sync`; `CancellationError` when the task is cancelled.
    @discardableResult
    public func syncNow() async throws -> SyncResult {
        let request = RoundRequest()
        control.withLock { $0.requests.append(request) }
        defer { remove([request]) }
        try await roundMutex.withLock {
            // Before the next round begins, which would be a whole one for this request.
            defer { remove([request]) }
            if request.result == nil { try await runNext() }
        }
        guard let result = request.result else {
            throw SyncError(.internalError, "The round of a sync has no result.")
        }
        return try result.get()
    }

    /// Pushes within a time limit, for example before the system suspends the app. Nothing is pulled, and ``run()`` continues
    /// afterwards.
    ///
    /// A running pull is cancelled at once, and the pages that it has stored stay. A push of a running round continues
    /// until the limit. Operations that were not sent stay pending. If the server has asked for a wait, nothing is sent before
    /// its end, and nothing at all if it is beyond the limit: ``SyncError/retryAfter`` of the result's error has the rest.
    ///
    /// - Parameter limit: after this time, or when the task is cancelled, a running push is cancelled, also that of a round. A
    ///   resolver or delegate of the app is waited for.
    /// - Returns: the result of the push, with the error that ended it, and no pulls.
    public func finish(within limit: Duration) async -> SyncResult {
        roundParts.beginFinishing()
        defer { roundParts.endFinishing() }
        let end = uptime + limit
        let result = await withTaskCancellationHandler {
            await withTaskGroup(of: PushResult?.self) { group in
                group.addTask { await self.push(until: end) }
                group.addTask {
                    if (try? await self.context.environment.sleep(limit)) != nil {
                        self.roundParts.end(.push)
                    }
                    return nil
                }
                var result: PushResult?
                for await ended in group {
                    group.cancelAll()
                    result = result ?? ended
                }
                return result
            }
        } onCancel: {
            roundParts.end(.push)
        }
        return SyncResult(push: result ?? PushResult(), pulls: [])
    }
}
