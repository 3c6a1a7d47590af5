// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Decides when the next round runs and what it does: the only place of this rule. A value without effects.
///
/// A round is a push, then pulls. Times are durations since 1970, by the client's clock.
struct SyncSchedule: Sendable {
    private let settings: AutoSync.Settings
    /// The indices of the plans, parents first.
    private let order: [Int]
    var pulls: [Pull]
    private var push = PushTimes()
    private(set) var isInRound = false
    /// Why a push or pulls were requested last.
    var requestCause = SyncEvent.RoundCause.start
    private(set) var gate: SyncGate?
    /// The number of failures in a row, without progress between them.
    private var failures = 0
    private var hasLastRoundFailed = false
    /// The number of rounds in a row that have left operations to send again.
    private var incompleteRounds = 0
    private var lastEnd: Duration?
    private var lastNow: Duration?
    /// How often the clock was found set back.
    private(set) var clockSteps = 0
    var signIn = SignInWait()
    /// When the change feed has refused the token; `nil` if it may be asked.
    var feedRefusedAt: Duration?
    /// The number of sign-ins, for requests that the server refuses after a sign-in.
    var signIns = 0
    /// The end of the wait that the server had asked for when the current round began.
    private var serverEndAtBegin: Duration?
    private var isOffline = false
    /// The number of reports that the network is unavailable, for answers from before one.
    private var outages = 0
    /// The numbers of sign-ins and of these reports when the current round began.
    private var (signInsAtBegin, outagesAtBegin) = (0, 0)
    /// Whether the network is metered. It stays so when the network comes back, until the app says otherwise.
    private var isMetered = false
    private(set) var isInForeground = true

    /// - Parameters:
    ///   - plans: the tables of the plans, and how often they repeat.
    ///   - order: the indices of the plans, parents first.
    init(plans: [(table: String, interval: Duration?)], order: [Int], settings: AutoSync.Settings) {
        self.settings = settings
        self.order = order
        pulls = plans.map { Pull(table: $0.table, interval: $0.interval) }
    }

    // MARK: Decision

    /// Returns what to do now.
    ///
    /// - Parameter jitter: a random number from 0 to below 1.
    mutating func next(at now: Duration, jitter: Double) -> Step {
        adjustClock(to: now)
        guard var time = signIn.isNeeded ? signIn.retryAt : dueTime else {
            return .wait(until: nil, reason())
        }
        if let lastEnd { time = max(time, lastEnd + settings.pushDelay) }
        // Reachability is a hint, which may be wrong: the server is tried after the delays of failures.
        if isOffline, gate == nil, time <= now {
            closeGate(.failure, for: settings.backoff(failures: failures, jitter: jitter))
        }
        let gateTime = gate?.until ?? time
        if max(time, gateTime) <= now { return .run(round(at: now)) }
        let isGated = gateTime > time || hasLastRoundFailed
        return .wait(until: max(time, gateTime), reason(isGated: isGated))
    }

    /// Returns the cause of a due round.
    func cause(at now: Duration) -> SyncEvent.RoundCause {
        func isDue(_ times: [Duration?]) -> Bool { times.contains { $0.map { $0 <= now } ?? false } }
        let pulls = pulls.filter { !$0.needsSignIn }
        let requests = [push.requestedAt] + (pullsHintsOnly ? [] : pulls.map(\.requestedAt))
        if isDue(requests) { return requestCause }
        if isDue([push.next(settings)]) { return push.firstChange == nil ? .retry : .localChange }
        return isDue(pulls.map(\.hintedAt)) ? .serverHint : .interval
    }

    /// The round with all plans, which the user requests.
    var wholeRound: Round { round(of: order) }

    /// From when on the sync may ask the server's change feed; `nil` is after the next event.
    mutating func feedTime(at now: Duration) -> Duration? {
        adjustClock(to: now)
        guard isInForeground, !signIn.isNeeded else { return nil }
        let refusalEnd = feedRefusedAt.map { $0 + settings.maxBackoff }
        return max(gate?.serverEnd ?? .zero, refusalEnd ?? .zero)
    }

    private func reason(isGated: Bool = false) -> WaitReason {
        if isGated, gate?.cause == .otherProcess { return .otherProcess }
        if waitsForSignIn { return .signedOut }
        return isOffline ? .offline : isGated ? .failure : .nothingDue
    }

    private var dueTime: Duration? { ([push.next(settings)] + pulls.map(time)).compactMap(\.self).min() }

    /// Whether only tables at which the server has hinted are pulled. In the foreground everything is pulled.
    private var pullsHintsOnly: Bool { isMetered || !isInForeground }

    private func time(of pull: Pull) -> Duration? {
        if pull.needsSignIn { return nil }
        if pullsHintsOnly { return pull.hintedAt }
        return [pull.hintedAt, pull.requestedAt, pull.repeatsAt].compactMap(\.self).min()
    }

    private func round(at now: Duration) -> Round {
        let plans = order.filter { index in time(of: pulls[index]).map { $0 <= now } ?? false }
        guard plans.isEmpty, signIn.isNeeded else { return round(of: plans) }
        // The answer to a pull shows whether the server refuses only changes.
        return round(of: Array(order.filter { !pulls[$0].needsSignIn }.prefix(1)))
    }

    private func round(of plans: [Int]) -> Round {
        Round(
            plans: (0...2).flatMap { rank in plans.filter { pulls[$0].rank == rank } },
            hinted: Set(plans.filter { pulls[$0].hintedAt != nil }),
            mayFailAlone: Set(plans.filter { pulls[$0].hasEndedRound }))
    }

    // MARK: Events

    /// Records the start of the sync: everything is pushed and pulled, unless the server has asked for a wait.
    mutating func start(at now: Duration) {
        adjustClock(to: now)
        endWaitsForSignIn()
        resetDelays(at: now)
        requestAll(at: now, .start)
    }

    /// Records a change that the app has queued.
    mutating func recordLocalChange(at now: Duration) {
        adjustClock(to: now)
        push.recordChange(at: now)
    }

    /// Records a signal of the app.
    mutating func record(_ signal: AutoSync.Signal, at now: Duration) {
        adjustClock(to: now)
        switch signal {
        case .foreground:
            resetDelays(at: now)
            if !isInForeground { requestAll(at: now, .foreground) }
            isInForeground = true
        case .background:
            isInForeground = false
        case .networkAvailable:
            let wasAvailable = !isOffline && !isMetered && gate == nil
            (isOffline, isMetered) = (false, false)
            resetDelays(at: now)
            if !wasAvailable { requestAll(at: now, .network) }
        case .networkExpensive:
            let wasAvailable = !isOffline && gate == nil
            (isOffline, isMetered) = (false, true)
            resetDelays(at: now)
            if !wasAvailable { requestPush(at: now, .network) }
        case .networkUnavailable:
            isOffline = true
            outages += 1
        case .signedIn:
            signIns += 1
            endWaitsForSignIn()
            resetDelays(at: now)
            requestAll(at: now, .signedIn)
        case .serverHint(let tables):
            // Servers ignore the case of names.
            let keys = Set(tables.map { $0.lowercased() })
            for index in pulls.indices where keys.contains(pulls[index].table.lowercased()) {
                pulls[index].hintedAt = pulls[index].hintedAt ?? now
            }
        }
    }

    /// Records that the time has passed until which the sync has waited. If the clock shows an earlier time, it was set back.
    ///
    /// - Parameter clockSteps: ``clockSteps`` when the wait began.
    mutating func recordWait(until time: Duration, at now: Duration, clockSteps: Int) {
        // The wait has reached that time: a clock that shows less was set back meanwhile.
        if clockSteps == self.clockSteps { lastNow = max(lastNow ?? time, time) }
        adjustClock(to: now)
    }

    /// Records that another process syncs the store.
    mutating func recordOtherProcess(at now: Duration) {
        adjustClock(to: now)
        closeGate(.otherProcess, for: settings.lockRetryDelay)
    }

    /// Records that the store could not be locked for a round, which is still due.
    mutating func recordLockFailure(at now: Duration, jitter: Double) {
        adjustClock(to: now)
        lastEnd = now
        recordFailure(retryAfter: nil, jitter: jitter)
    }

    /// Records an answer to a request to the change feed, or why the request failed.
    ///
    /// An answer ends no wait for a sign-in: the request may have been sent before the token was refused.
    ///
    /// - Parameter signIns: the number of sign-ins when it was sent.
    mutating func recordFeed(_ failure: RoundFailure?, signIns: Int, at now: Duration) {
        adjustClock(to: now)
        switch failure {
        case nil:
            isOffline = false
            openGate(at: now)
        case .unauthenticated:
            // A round shows whether the server refuses only the feed.
            isOffline = false
            if signIns == self.signIns { feedRefusedAt = now }
        case .unavailable(let retryAfter?):
            closeGate(.server, for: .zero, after: min(retryAfter, settings.maxRetryAfter))
        case .unavailable, .ofPlan: break
        }
    }

    /// Records that operations are pending which a push can send, unless a change or a round accounts for them: a push that
    /// the app has called can have left them.
    ///
    /// - Parameter areReleased: whether they have waited for others. They do not wait for a refused one to be sent again.
    mutating func recordSendableOperations(areReleased: Bool = false, at now: Duration, jitter: Double) {
        adjustClock(to: now)
        guard !isInRound, push.firstChange == nil, areReleased || push.requestedAt == nil,
            push.leftOperationsAt == nil
        else { return }
        push.leftOperationsAt =
            now + settings.pushDelay + settings.backoff(failures: incompleteRounds, jitter: jitter)
    }

    /// Records the beginning of a round. What arrives from now on is left to the next round.
    mutating func begin(_ round: Round, at now: Duration) {
        adjustClock(to: now)
        push = PushTimes()
        signIn.beginRound()
        (isInRound, signInsAtBegin, outagesAtBegin) = (true, signIns, outages)
        for index in round.plans {
            pulls[index].requestedAt = nil
            pulls[index].hintedAt = nil
            pulls[index].repeatsAt = nil
        }
        openGate(at: now)
        serverEndAtBegin = gate?.serverEnd
    }

    /// Records the end of a round.
    ///
    /// - Parameters:
    ///   - pulled: the plans that are done, successfully or with an error that repeating cannot remove.
    ///   - refused: those of them whose tables the server does not have or does not show. No change feed tells when it does.
    ///   - stored: the plans of which rows were stored, also before a failure.
    mutating func end(
        _ round: Round, _ outcome: Outcome, pulled: Set<Int>, refused: Set<Int> = [], stored: Set<Int> = [],
        at now: Duration, jitter: Double
    ) {
        adjustClock(to: now)
        (lastEnd, isInRound) = (now, false)
        for index in pulled {
            pulls[index].repeatsAt = pulls[index].interval.map { now + $0 }
            pulls[index].recordSuccess()
        }
        // A plan that the server permits now shows that the user has signed in.
        if pulled.union(stored).contains(where: { pulls[$0].needsSignIn }) { endWaitsForSignIn() }
        for index in stored.intersection(round.mayFailAlone) { pulls[index].failures = 0 }
        for index in refused where settings.followsChangeFeed {
            let time = now + settings.maxBackoff
            pulls[index].repeatsAt = min(pulls[index].repeatsAt ?? time, time)
        }
        var retries: Set<Int> = []
        switch outcome {
        case .completed(let reachedServer, let leavesOperations, let failedPlans):
            (hasLastRoundFailed, retries) = (!reachedServer && !failedPlans.isEmpty, failedPlans)
            if signIn.isRetrying { signIn = SignInWait() }
            if reachedServer { recordAnswer() }
            if !leavesOperations { incompleteRounds = 0 }
            // The push after a change made during the round sends what the round has left.
            guard leavesOperations, push.firstChange == nil else { break }
            requestPush(at: now + settings.backoff(failures: incompleteRounds, jitter: jitter), .retry)
            incompleteRounds += 1
        case .failed(let retryAfter, let reachedServer, let madeProgress, let plan, let isOfChange):
            requestPush(at: now, .retry)
            if let plan { pulls[plan].recordEndOfRound(asksForWait: retryAfter != nil) }
            if isOfChange { signIn = SignInWait() }
            if signIn.isRetrying { signIn.retry(at: now, settings, jitter: jitter) }
            if reachedServer { recordFirstAnswer() }
            if madeProgress { failures = 0 }
            recordFailure(retryAfter: retryAfter, jitter: jitter)
        case .unauthenticated(let plan, let mayBeOfChange):
            endOutage()
            hasLastRoundFailed = false
            // The server may have refused the token from before a sign-in during the round.
            let isRefused = signIns == signInsAtBegin
            if let plan {
                // It may permit others to any caller, and has not refused the push.
                pulls[plan].needsSignIn = isRefused
                (signIn, feedRefusedAt) = (SignInWait(), isRefused ? nil : feedRefusedAt)
            } else {
                requestPush(at: now, .retry)
                if isRefused { signIn.begin() } else { signIn = SignInWait() }
                if mayBeOfChange { signIn.retry(at: now, settings, jitter: jitter) }
            }
        case .cancelled(let reachedServer):
            requestPush(at: now, .retry)
            if reachedServer { recordFirstAnswer() }
            if signIn.isRetrying { signIn.retry(at: now, settings, jitter: jitter) }
        }
        for index in Set(round.plans).subtracting(pulled) {
            requestCause = .retry
            var retryTime = now
            if retries.contains(index) {
                // The failures of other plans and of operations do not prolong the delay.
                retryTime += settings.backoff(failures: pulls[index].failures, jitter: jitter)
                pulls[index].failures += 1
            }
            pulls[index].request(at: retryTime, isHinted: round.hinted.contains(index))
        }
    }

    // MARK: Helpers

    private mutating func recordFailure(retryAfter: Duration?, jitter: Double) {
        let serverWait = retryAfter.map { min($0, settings.maxRetryAfter) }
        let backoff = settings.backoff(failures: failures, jitter: jitter)
        closeGate(serverWait == nil ? .failure : .server, for: backoff, after: serverWait)
        failures += 1
        hasLastRoundFailed = true
    }

    /// An answer of the server refutes that the network is unavailable, and that the user must sign in, also if the round fails
    /// later.
    private mutating func recordFirstAnswer() {
        if signIn.isNeeded { (signIn, feedRefusedAt) = (SignInWait(), nil) }
        endOutage()
    }

    /// As ``recordFirstAnswer()``, for a round that has reached its end. A wait that the server has asked for since the round
    /// began stays.
    private mutating func recordAnswer() {
        recordFirstAnswer()
        failures = 0
        gate = gate?.serverEnd == serverEndAtBegin ? nil : gate?.ofServer
    }

    /// An answer shows that the network is available, unless it may be from before an outage that the app has reported.
    private mutating func endOutage() { if outages == outagesAtBegin { isOffline = false } }

    private mutating func requestAll(at now: Duration, _ cause: SyncEvent.RoundCause) {
        requestPush(at: now, cause)
        for index in pulls.indices { pulls[index].requestedAt = now }
    }

    private mutating func requestPush(at time: Duration, _ cause: SyncEvent.RoundCause) {
        requestCause = cause
        push.request(at: time)
    }

    /// Ends the delays after failures, but not those that the server has asked for.
    private mutating func resetDelays(at now: Duration) {
        (failures, incompleteRounds, hasLastRoundFailed) = (0, 0, false)
        push.endDelays(at: now)
        for index in pulls.indices { pulls[index].endDelays(at: now) }
        gate = gate?.ofServer
        feedRefusedAt = nil
    }

    /// Prevents rounds for that long, after the wait that the server has asked for.
    private mutating func closeGate(_ cause: SyncGate.Cause, for delay: Duration, after wait: Duration? = nil)
    {
        let now = lastNow ?? .zero
        let end = wait.map { now + $0 }
        gate = SyncGate(cause, until: (end ?? now) + delay, requestedEnd: end, after: gate, at: now)
    }

    private mutating func openGate(at now: Duration) { if let gate, gate.until <= now { self.gate = nil } }

    /// Moves all times when the clock was set back, so that no wait becomes longer.
    mutating func adjustClock(to now: Duration) {
        defer { lastNow = now }
        guard let lastNow, now < lastNow else { return }
        let offset = now - lastNow
        clockSteps += 1
        for time in [\Self.lastEnd, \.serverEndAtBegin, \.feedRefusedAt] {
            self[keyPath: time] = self[keyPath: time].map { $0 + offset }
        }
        push.move(by: offset)
        signIn.move(by: offset)
        gate?.move(by: offset)
        for index in pulls.indices { pulls[index].move(by: offset) }
    }
}
