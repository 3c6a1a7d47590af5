// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Runs one round: a push, then the pulls of plans.
struct SyncRound: Sendable {
    let context: SyncContext
    let plans: [PullPlan]
    /// How much the push sends.
    var budget = PushBudget()
    /// Receives the result of a push that is cancelled.
    var onCancellation: @Sendable (PushResult) -> Void = { _ in }
    let parts: RoundParts
    let show: @Sendable (AutoSync.Phase) -> Void
    /// Receives the report at the end of the push.
    let recordPush: @Sendable (Report) -> Void
    /// Is called at the end of each pull that is complete.
    let recordPull: @Sendable () -> Void

    /// What a round has done.
    struct Report: Sendable {
        var push: PushResult?
        /// The number of operations that were held after the push, if there were any.
        var heldAfterPush: Int?
        /// The results by the index of the plan.
        var pulls: [Int: PullResult] = [:]
        /// The errors of the plans that have failed, by the index of the plan.
        var failed: [Int: SyncError] = [:]
        /// Those of them that may succeed later.
        var retries: Set<Int> = []
        /// The plans of which rows were stored, also before a failure.
        var stored: Set<Int> = []
        /// The tables with rows that have to be pulled again after the push. The plans of the round pull them.
        var tablesToPull: Set<String> = []
        /// The error that ended the round.
        var ending: SyncError?
        /// The plan whose pull ended the round; `nil` if the push did.
        var endingPlan: Int?
        /// What was cancelled before the end of the round; `nil` for nothing.
        var cancellation: Cancellation?
        /// The first error of an operation or a plan, after which the round continued.
        var error: SyncError?

        /// Whether the server has answered a request about rows: also one that it has refused.
        var reachedServer = false

        /// Whether the server has applied a change, or rows were pulled. A refusal is none: the same operation may be refused in
        /// every round.
        var madeProgress: Bool { (push?.completed ?? 0) > 0 || !pulls.isEmpty || !stored.isEmpty }
    }

    /// What was cancelled.
    enum Cancellation: Sendable {
        /// The app has ended the push: see ``AutoSync/finish(within:)``.
        case ofPush
        /// The task of the round was cancelled.
        case ofTask
    }

    /// Runs the round. Its errors are in the report.
    func run(_ round: SyncSchedule.Round) async -> Report {
        var report = Report()
        do {
            try await push(&report)
            recordPush(report)
            report.tablesToPull = await context.takeTablesToPull()
            for index in round.plans where report.ending == nil {
                try await pull(index, of: round, &report)
            }
        } catch {
            report.cancellation = .ofTask
        }
        return report
    }

    private func push(_ report: inout Report) async throws {
        let partial = Mutex(PushResult())
        let record = { @Sendable (result: PushResult) in
            partial.withLock { $0 = result }
            onCancellation(result)
        }
        defer {
            if (report.push ?? partial.withLock(\.self)).showsAnswer { report.reachedServer = true }
        }
        do {
            let pushed = try await parts.run(.push) {
                let count = (try? await context.status().sendableOperations) ?? 0
                if count > 0 { show(.pushing(done: 0, of: count)) }
                do {
                    return try await context.pushPermittingPulls(
                        budget: budget, onCancellation: record)
                } catch let error as SyncError {
                    // If the time is over, the error counts as one of the cancellation.
                    if let result = error.pushResult { record(result) }
                    throw error
                }
            }
            (report.push, report.error) = (pushed?.result, pushed?.error)
            if pushed == nil {
                report.cancellation = .ofPush
                let error = SyncError(
                    .pushAbortedCancelled, "The app ended the sync before all changes were sent. Sync again.",
                    mayRetry: true)
                let result = partial.withLock(\.self)
                report.ending = result.errors.isEmpty ? error : error.with(result)
            }
        } catch {
            let error = try Self.syncError(error)
            (report.push, report.ending) = (error.pushResult, error)
        }
        guard let push = report.push else { return }
        if push.errors.contains(where: { $0.code == .operationHeld }) {
            report.heldAfterPush = try? await context.status().heldOperations
        }
    }

    private func pull(
        _ index: Int, of round: SyncSchedule.Round, _ report: inout Report
    ) async throws {
        let progress = Mutex(PullResult())
        defer {
            let progress = progress.withLock(\.self)
            if progress.pages > 0 { report.reachedServer = true }
            if progress.upserted + progress.deleted > 0 { report.stored.insert(index) }
        }
        do {
            let result = try await parts.run(.pull) {
                try await pull(plans[index]) { result in progress.withLock { $0 = result } }
            }
            guard let result else { return }
            report.pulls[index] = result
            report.reachedServer = true
            recordPull()
        } catch {
            let error = try Self.syncError(error).afterPush(report.error)
            switch RoundFailure(error).ofPlan(if: round.mayFailAlone.contains(index)) {
            case .ofPlan(let mayRetry):
                report.error = report.error ?? error
                if error.showsAnswer { report.reachedServer = true }
                report.failed[index] = error
                if mayRetry { report.retries.insert(index) }
            case .unauthenticated, .unavailable:
                (report.ending, report.endingPlan) = (error, index)
            }
        }
    }

    /// Returns the error of a push or pull. A transport may throw `CancellationError` although the task is not cancelled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    private static func syncError(_ error: any Error) throws -> SyncError {
        try Task.checkCancellation()
        return error as? SyncError
            ?? SyncError(.internalError, "A sync ended unexpectedly.", cause: error, mayRetry: true)
    }

    /// Pulls the rows of a plan.
    ///
    /// - Parameter record: receives what the pull has done after each page.
    private func pull(_ plan: PullPlan, record: @Sendable (PullResult) -> Void) async throws -> PullResult {
        do {
            var settings = plan.settings
            settings.pending = .pullAnyway
            var result = PullResult()
            show(.pulling(table: plan.query.table, rows: 0, of: nil))
            let pages = context.pulling(plan.query, queryID: try plan.queryID, settings: settings)
            for try await progress in pages {
                result = progress
                record(progress)
                let rows = min(result.received, result.total ?? .max)
                show(.pulling(table: plan.query.table, rows: rows, of: result.total))
            }
            return result
        } catch let error as SyncError {
            throw error.naming(plan.model)
        }
    }
}

extension PushResult {
    /// Whether the server has answered a request about an operation.
    fileprivate var showsAnswer: Bool { completed > 0 || hasRefusals }
}

extension SyncRound.Report {
    /// Returns what the round returns to callers that wait for it.
    ///
    /// - Throws: the error that ended the round, or else the first error; with the result of the push, if that has failed.
    func result(of round: SyncSchedule.Round, planCount: Int) throws -> SyncResult {
        // The first error is that of the push, if it has one.
        if let thrown = ending ?? error { throw thrown.withFailures(of: error) }
        guard round.plans.allSatisfy({ pulls[$0] != nil }) else {
            throw SyncError(
                .pullAborted, "The app ended the sync before all rows were pulled. Sync again.",
                mayRetry: true)
        }
        return SyncResult(
            push: push ?? PushResult(), pulls: (0..<planCount).map { pulls[$0] ?? PullResult() })
    }

    /// How the round ended, for ``SyncEvent``.
    var eventOutcome: SyncEvent.Outcome {
        if cancellation != nil { return .cancelled }
        return ending != nil ? .aborted : error == nil ? .completed : .completedWithErrors
    }

    /// Returns how the round ended.
    ///
    /// - Parameter leavesOperations: whether operations are pending that a push can send.
    func outcome(leavesOperations: Bool) -> SyncSchedule.Outcome {
        switch ending.map(RoundFailure.init) {
        case _ where cancellation != nil: .cancelled(reachedServer: reachedServer)
        // The push has permitted pulls, and none has shown that the server answers other requests.
        case nil where !reachedServer && push?.mayBeOutage == true:
            .failed(madeProgress: madeProgress, isOfChange: true)
        case nil:
            .completed(reachedServer: reachedServer, leavesOperations: leavesOperations, retries: retries)
        case .unauthenticated:
            // A pull that is refused too shows that the server has not refused one change only.
            .unauthenticated(
                plan: error?.code == .pushAbortedAuthentication ? nil : endingPlan,
                mayBeOfChange: push?.mayBeUnauthorizedChange ?? false)
        case .unavailable(let retryAfter):
            .failed(
                retryAfter: retryAfter, reachedServer: reachedServer, madeProgress: madeProgress,
                plan: endingPlan)
        case .ofPlan: .failed(reachedServer: reachedServer, madeProgress: madeProgress)
        }
    }
}
