// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Runs the rounds that the ``SyncSchedule`` decides.
extension AutoSync {
    /// The time since 1970, by the client's clock.
    var now: Duration {
        let now = context.environment.now()
        return .seconds(now.seconds) + .nanoseconds(now.nanoseconds)
    }

    /// The time since a fixed moment, for durations.
    var uptime: Duration { context.environment.uptime() }

    /// A random number from 0 to below 1.
    var jitter: Double { context.environment.jitter }

    private func nextStep() -> SyncSchedule.Step {
        control.withLock { $0.schedule.next(at: now, jitter: jitter) }
    }

    // MARK: Run

    /// Runs rounds until the task is cancelled or the context is closed.
    func runRounds() async {
        // Changes from here on are signalled; the first push sends earlier ones.
        let (localChanges, operationChanges) = (context.localChanges(), context.operationChanges())
        control.withLock { control in
            control.isRunning = true
            control.pulledPlans = []
            control.schedule.start(at: now)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow(localChanges) }
            group.addTask { await self.showOperations(operationChanges) }
            if context.isStoreShared { group.addTask { await self.detectExternalCommits() } }
            if settings.followsChangeFeed, !plans.isEmpty { group.addTask { await self.followServer() } }
            await runDueRounds()
            group.cancelAll()
        }
        control.withLock { control in
            control.isRunning = false
            if !control.schedule.isInRound { show(.stopped) }
        }
    }

    /// Decides the next step. Shows the reason for a wait, unless a round of a caller runs, which shows its own phase. Holds
    /// the lock, so that a round that begins later shows its phase later.
    private func showNextStep() -> SyncSchedule.Step {
        control.withLock { control in
            let step = control.schedule.next(at: now, jitter: jitter)
            if case .wait(let time, let reason) = step, !control.schedule.isInRound {
                show(Phase(reason, until: time))
            }
            return step
        }
    }

    private func runDueRounds() async {
        var lock = SyncLock(of: context)
        while !Task.isCancelled, !context.isClosed {
            switch showNextStep() {
            case .wait(let time, let reason):
                if !control.withLock({ $0.schedule.keepsLock(waitingFor: reason, at: now) }) {
                    await lock.release()
                }
                await wait(for: wakeup, until: time)
            case .run:
                await runDueRound(&lock)
            }
        }
        await lock.release()
    }

    /// Waits for a signal or until a time of the schedule.
    func wait(for wakeup: Wakeup, until time: Duration?) async {
        let clockSteps = control.withLock { $0.schedule.clockSteps }
        let hasWaited = await wakeup.wait(atMost: time.map { $0 - now }, in: context.environment)
        guard hasWaited, let time else { return }
        control.withLock { $0.schedule.recordWait(until: time, at: now, clockSteps: clockSteps) }
    }

    private func runDueRound(_ lock: inout SyncLock) async {
        do {
            guard try await lock.acquire() else {
                return control.withLock { $0.schedule.recordOtherProcess(at: now) }
            }
            try await roundMutex.withLock {
                // A caller may have run the round while this task was waiting.
                if case .run = nextStep() { try await runNext() }
            }
        } catch let error as SyncError where !context.isClosed {
            // The store cannot be locked.
            feed.update { $0.lastError = error }
            control.withLock { $0.schedule.recordLockFailure(at: now, jitter: jitter) }
        } catch {}
    }

    // MARK: Rounds

    /// Runs the due round, or a whole one if a caller waits for it; none if it is no longer due. The caller holds the mutex of
    /// rounds.
    ///
    /// - Throws: `CancellationError`.
    func runNext() async throws {
        let next: (SyncSchedule.Round, SyncEvent.RoundCause, [RoundRequest])? = control.withLock { control in
            if !control.requests.isEmpty { return (control.schedule.wholeRound, .request, control.requests) }
            guard case .run(let due) = control.schedule.next(at: now, jitter: jitter) else { return nil }
            return (due, control.schedule.cause(at: now), [])
        }
        guard let (round, cause, requests) = next else { return }
        // The requests stay until the round has ended: after a cancellation, another caller runs it.
        let report = try await run(round, cause, budget: PushBudget())
        let result = Result { try report.result(of: round, planCount: plans.count) }
        remove(requests)
        for request in requests { request.complete(with: result) }
    }

    func remove(_ requests: [RoundRequest]) {
        control.withLock { control in
            control.requests.removeAll { request in requests.contains { $0 === request } }
        }
    }

    /// Pushes what a push can send until that ``uptime``, after the wait that the server has asked for.
    func push(until end: Duration) async -> PushResult {
        let partial = Mutex(PushResult())
        do {
            while true {
                // Other rounds do not wait for this wait.
                if let wait = control.withLock({ $0.schedule.serverWait(at: now) }) {
                    guard uptime + wait < end else { return PushResult(abortReason: .waitOfServer(wait)) }
                    roundParts.endFinishing()
                    do {
                        try await context.environment.sleep(wait)
                    } catch {
                        roundParts.beginFinishing(endsPull: false)
                        throw error
                    }
                    roundParts.beginFinishing()
                }
                let report = try await roundMutex.withLock { () -> SyncRound.Report? in
                    guard control.withLock({ $0.schedule.serverWait(at: now) }) == nil else { return nil }
                    let budget = PushBudget(duration: max(.zero, end - uptime))
                    return try await run(SyncSchedule.Round(), .finish, budget: budget) { result in
                        partial.withLock { $0 = result }
                    }
                }
                if let report { return report.push ?? PushResult(abortReason: report.ending) }
            }
        } catch {
            let message =
                uptime < end ? "The push was cancelled." : "The push did not end within its time limit."
            return partial.withLock(\.self).aborted(
                by: SyncError(.pushAbortedCancelled, message, mayRetry: true))
        }
    }

    private func run(
        _ round: SyncSchedule.Round, _ cause: SyncEvent.RoundCause, budget: PushBudget,
        onCancellation: @escaping @Sendable (PushResult) -> Void = { _ in }
    ) async throws -> SyncRound.Report {
        let startTime = context.environment.now()
        control.withLock { control in
            control.heldAfterPush = nil
            control.schedule.begin(round, at: now)
        }
        // Each call of `finish(within:)` ends its push at its limit, and not at that of another call.
        let parts = cause == .finish ? RoundParts() : roundParts
        let syncRound = SyncRound(
            context: context, plans: plans, budget: budget, onCancellation: onCancellation, parts: parts,
            show: { self.show($0) }, recordPush: { self.recordPush($0) }, recordPull: { self.recordPull() })
        let report = await syncRound.run(round)
        let previous = control.withLock { followed(&$0) }
        do {
            try await showingMutex.withLock { end(round, report, try? await shownOperations()) }
        } catch {
            // The task was cancelled: what the round has done counts.
            end(round, report, nil)
        }
        let mayFeedContinue = control.withLock { control in
            followed(&control) != previous || report.reachedServer && control.isFeedWithoutServer
        }
        if mayFeedContinue { feedWakeup.signal() }
        context.emitRoundEnded(cause, report.eventOutcome, since: startTime)
        endRound()
        if report.cancellation == .ofTask { throw CancellationError() }
        // A push that the app calls meanwhile can leave other operations than the round has.
        if control.withLock({ $0.isRunning }) { await showOperations() }
        return report
    }

    /// Ends a round that has run, and shows it with the operations that it has left.
    ///
    /// - Parameter operations: read while the caller holds ``showingMutex``; `nil` if they could not be read.
    private func end(_ round: SyncSchedule.Round, _ report: SyncRound.Report, _ operations: ShownOperations?)
    {
        let leavesOperations = operations.map { $0.status.sendableOperations > 0 } ?? true
        let refused = report.failed.filter { $0.value.isRefusal }
        control.withLock { control in
            control.heldAfterPush = report.heldAfterPush
            control.schedule.end(
                round, report.outcome(leavesOperations: leavesOperations),
                pulled: Set(report.pulls.keys).union(report.failed.keys).subtracting(report.retries),
                refused: Set(refused.keys), stored: report.stored, at: now, jitter: jitter)
            control.schedule.requestPulls(of: report.tablesToPull, except: round.plans, at: now)
        }
        record(report, operations)
    }

    private func endRound() {
        control.withLock { control in
            if control.isRunning { wakeup.signal() } else { show(.stopped) }
        }
    }

    // MARK: Events

    private func follow(_ localChanges: AsyncStream<Void>) async {
        for await _ in localChanges {
            control.withLock { $0.schedule.recordLocalChange(at: now) }
            wakeup.signal()
        }
        // The context is closed.
        wakeup.signal()
    }

    /// Requests pulls of the tables with rows that have to be pulled again: after a decision, a push of the app, or a round. A
    /// running round takes those of its push.
    func requestPullsAgain() async {
        guard control.withLock({ !$0.schedule.isInRound }) else { return }
        let tables = await context.takeTablesToPull()
        guard !tables.isEmpty else { return }
        control.withLock { $0.schedule.requestPulls(of: tables, at: now) }
        wakeup.signal()
    }

    /// Finds the changes of other processes, whose commits are not signalled.
    private func detectExternalCommits() async {
        while (try? await context.environment.sleep(SyncContext.externalCommitInterval)) != nil {
            if control.withLock({ $0.schedule.isInForeground }) { context.detectExternalCommits() }
        }
    }
}

extension SyncStatus {
    /// The number of pending operations that wait for no decision and no other operation.
    var sendableOperations: Int {
        pendingOperations - parkedOperations - conflictingOperations - heldOperations
    }
}

extension SyncError {
    /// The error of a push that is not made because the server has asked for a wait.
    fileprivate static func waitOfServer(_ wait: Duration) -> SyncError {
        SyncError(
            .pushAbortedService, "The server has asked to wait before the next request.", mayRetry: true,
            retryAfter: wait)
    }
}
