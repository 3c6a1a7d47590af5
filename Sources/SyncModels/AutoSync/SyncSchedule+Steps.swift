// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the schedule decides, and what it is told about rows to pull again and about the end of a round.
extension SyncSchedule {
    /// The pull of one plan. Times are `nil` when there is no such reason to pull.
    struct Pull {
        let table: String
        let interval: Duration?
        var requestedAt: Duration?
        var hintedAt: Duration?
        /// The next repetition by the interval.
        var repeatsAt: Duration?
        /// The number of pulls in a row that have failed and may succeed later, also with rounds without this plan between them.
        var failures = 0
        /// Whether the server has required a sign-in for this pull, after which it waits for one.
        var needsSignIn = false
        /// Whether the server has not answered this pull, and a round has ended with it. A further failure is one of this plan only.
        private(set) var hasEndedRound = false
        /// How often in a row the server has asked for a wait instead of an answer. It may do so for this pull only.
        private(set) var waits = 0
        /// The place in a round: first parents, then their children, then plans that the server has not answered
        /// twice, then those that wait for a sign-in.
        var rank: Int { needsSignIn ? 2 : waits > 1 || hasEndedRound && failures > 0 ? 1 : 0 }

        /// Records that a round has ended with this pull, because the server has not answered it.
        mutating func recordEndOfRound(asksForWait: Bool) {
            if asksForWait { waits += 1 } else { hasEndedRound = true }
        }

        mutating func recordSuccess() { (failures, hasEndedRound, waits) = (0, false, 0) }

        mutating func request(at time: Duration, isHinted: Bool) {
            let kind = isHinted ? \Self.hintedAt : \.requestedAt
            self[keyPath: kind] = min(self[keyPath: kind] ?? time, time)
        }

        /// Ends the delays after failures.
        mutating func endDelays(at now: Duration) {
            failures = 0
            requestedAt = requestedAt.map { min($0, now) }
            hintedAt = hintedAt.map { min($0, now) }
        }

        mutating func move(by offset: Duration) {
            requestedAt = requestedAt.map { $0 + offset }
            hintedAt = hintedAt.map { $0 + offset }
            repeatsAt = repeatsAt.map { $0 + offset }
        }
    }

    /// The work of one round.
    struct Round: Sendable, Equatable {
        /// The indices of the plans to pull, parents first, but those last that the server has not answered twice, or that need a
        /// sign-in.
        var plans: [Int] = []
        /// Those of them that the server has hinted at.
        var hinted: Set<Int> = []
        /// Those of them whose failure does not end the round.
        var mayFailAlone: Set<Int> = []
    }

    /// What to do now.
    enum Step: Sendable, Equatable {
        case run(Round)
        /// Decide again at that time, or after the next event.
        case wait(until: Duration?, WaitReason)
    }

    /// Why no round runs.
    enum WaitReason: Sendable, Equatable { case nothingDue, failure, offline, signedOut, otherProcess }

    /// Whether a process that waits keeps the sync lock of a shared store: only in the foreground, because a suspended app must
    /// not hold a lock, and only if no other process could sync either.
    func keepsLock(waitingFor reason: WaitReason, at now: Duration) -> Bool {
        guard isInForeground else { return false }
        return switch reason {
        case .nothingDue: true
        case .failure, .signedOut: gate.map { $0.cause == .server && $0.until > now } ?? false
        case .offline, .otherProcess: false
        }
    }

    /// Records that rows of these tables have to be pulled again.
    ///
    /// - Parameter plans: plans that pull them already.
    mutating func requestPulls(of tables: Set<String>, except plans: [Int] = [], at now: Duration) {
        adjustClock(to: now)
        for index in pulls.indices where tables.contains(pulls[index].table) && !plans.contains(index) {
            if pulls[index].requestedAt == nil { requestCause = .retry }
            pulls[index].request(at: now, isHinted: false)
        }
    }

    /// How long the server has asked to wait from now on; `nil` if it has not.
    mutating func serverWait(at now: Duration) -> Duration? {
        adjustClock(to: now)
        return gate?.requestedEnd.flatMap { $0 > now ? $0 - now : nil }
    }

    /// How a round has ended.
    enum Outcome: Sendable, Equatable {
        /// It has reached its end.
        ///
        /// - Parameters:
        ///   - reachedServer: whether the server has answered.
        ///   - leavesOperations: whether operations are pending that a push can send.
        ///   - retries: the plans that have failed and may succeed later.
        case completed(reachedServer: Bool, leavesOperations: Bool = false, retries: Set<Int> = [])
        /// The server or the store is not available.
        ///
        /// - Parameters:
        ///   - retryAfter: the wait that the server asks for.
        ///   - reachedServer: whether the server has answered before.
        ///   - madeProgress: whether it has applied a change, or rows were pulled.
        ///   - plan: the plan whose pull has failed; `nil` if the push has.
        ///   - isOfChange: whether the push has failed for some of its changes, and nothing shows yet that others succeed.
        case failed(
            retryAfter: Duration? = nil, reachedServer: Bool = false, madeProgress: Bool = false,
            plan: Int? = nil, isOfChange: Bool = false)
        /// The server requires the user to sign in.
        ///
        /// - Parameters:
        ///   - plan: the plan that it has refused; `nil` if it has refused the push.
        ///   - mayBeOfChange: whether further pushes can show that it refuses one change only.
        case unauthenticated(plan: Int? = nil, mayBeOfChange: Bool = false)
        /// The caller or the app has cancelled the round.
        ///
        /// - Parameter reachedServer: whether the server has answered before.
        case cancelled(reachedServer: Bool = false)
    }
}
