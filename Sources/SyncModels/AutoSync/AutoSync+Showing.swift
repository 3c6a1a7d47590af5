// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Updates the state that the app shows.
extension AutoSync {
    func show(_ phase: Phase) { feed.update { $0.phase = phase } }

    /// Shows the pending operations after each change of them, at most ten times a second.
    func showOperations(_ changes: AsyncStream<Void>) async {
        await showOperations()
        for await _ in changes {
            await showOperations()
            try? await context.environment.sleep(.milliseconds(100))
        }
    }

    /// Shows the pending operations, and takes care of those that no round will send, and of rows that no round will pull.
    func showOperations() async {
        try? await showingMutex.withLock { await showPendingOperations() }
        await requestPullsAgain()
    }

    private func showPendingOperations() async {
        guard let operations = try? await shownOperations() else { return }
        let status = operations.status
        let areReleased = areHeldOperationsReleased(status)
        if status.sendableOperations > 0 {
            control.withLock { control in
                control.schedule.recordSendableOperations(areReleased: areReleased, at: now, jitter: jitter)
            }
            wakeup.signal()
        }
        feed.update { state in
            state.setOperations(operations)
            if case .pushing(let done, let count) = state.phase {
                state.phase = .pushing(done: max(done, count - status.sendableOperations), of: count)
            }
        }
    }

    /// Reads what the state shows of the pending operations.
    func shownOperations() async throws -> ShownOperations {
        ShownOperations(
            status: try await context.status(),
            oldest: try await context.pendingOperations(limit: 1).first?.changedAt)
    }

    /// Whether fewer operations are held than when this was last recorded. Records the lower number.
    private func areHeldOperationsReleased(_ status: SyncStatus) -> Bool {
        control.withLock { control in
            guard let count = control.heldAfterPush, status.heldOperations < count else { return false }
            control.heldAfterPush = status.heldOperations
            return true
        }
    }

    /// Shows the end of a push, which the pulls of its round follow. An error that has ended the push changes nothing yet.
    func recordPush(_ report: SyncRound.Report) {
        guard report.ending == nil, let push = report.push, push.abortReason == nil else { return }
        let time = context.environment.now()
        let planError = control.withLock { control in
            // An answer to the push ends an outage that a pull has found.
            if report.reachedServer {
                control.failedPlans = control.failedPlans.filter { !$0.value.isOutage }
            }
            return control.planError
        }
        feed.update { state in
            if push.hasReachedEnd { state.lastPush = time }
            state.lastError = report.error ?? planError
        }
    }

    /// Shows the end of a pull that is complete.
    func recordPull() {
        let time = context.environment.now()
        feed.update { $0.lastPull = time }
    }

    /// Shows how a round has ended, and the operations that it has left.
    func record(_ report: SyncRound.Report, _ operations: ShownOperations?) {
        let planError = control.withLock { control in
            control.pulledPlans.formUnion(report.pulls.keys)
            for index in report.pulls.keys { control.failedPlans[index] = nil }
            for (index, error) in report.failed {
                control.failedPlans[index] = PlanFailure(error, mayBeOutage: !report.reachedServer)
            }
            if let plan = report.endingPlan, let error = report.ending {
                control.failedPlans[plan] = PlanFailure(error, mayBeOutage: true)
            }
            return control.planError
        }
        feed.update { state in
            if let operations { state.setOperations(operations) }
            state.unreadable.add(report.pulls.values.flatMap(\.unreadable))
            if report.cancellation != .ofTask { state.lastError = report.ending ?? report.error ?? planError }
        }
    }
}

/// What the state of a sync shows of the pending operations.
struct ShownOperations: Sendable {
    let status: SyncStatus
    /// When the first pending operation was last changed.
    let oldest: Timestamp?
}

/// The failure of a plan's last pull.
struct PlanFailure: Sendable {
    let error: SyncError
    /// Whether the network, the server or the store was not available, so that it may not be about the plan.
    let isOutage: Bool

    /// - Parameter mayBeOutage: whether no request of the round was answered, or the error has ended it.
    init(_ error: SyncError, mayBeOutage: Bool) {
        self.error = error
        let isUnavailable = if case .unavailable = RoundFailure(error) { true } else { false }
        isOutage = mayBeOutage && isUnavailable
    }
}

extension AutoSync.Control {
    /// The error of the first plan whose last pull has failed.
    fileprivate var planError: SyncError? { failedPlans.min { $0.key < $1.key }?.value.error }
}

extension AutoSync.State {
    fileprivate mutating func setOperations(_ operations: ShownOperations) {
        pending = operations.status.pendingOperations
        conflicts = operations.status.conflictingOperations
        parked = operations.status.parkedOperations
        oldestPending = pending == 0 ? nil : operations.oldest
    }
}

extension AutoSync.Phase {
    /// The phase of a sync that waits.
    init(_ reason: SyncSchedule.WaitReason, until time: Duration?) {
        let time = time.map { Timestamp.unixEpoch.advanced(by: $0) }
        self =
            switch reason {
            case .nothingDue: .idle(next: time)
            case .failure: time.map { .waiting(until: $0) } ?? .idle(next: nil)
            case .offline: .offline
            case .signedOut: .needsSignIn
            case .otherProcess: .otherProcess
            }
    }
}
