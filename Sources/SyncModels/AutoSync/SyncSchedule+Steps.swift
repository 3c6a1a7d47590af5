// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the schedule decides, and what it is told about the end of a round.
extension SyncSchedule {
    /// The work of one round.
    struct Round: Sendable, Equatable {
        /// The indices of the plans to pull, parents first.
        var plans: [Int] = []
        /// Those of them that the server has hinted at.
        var hinted: Set<Int> = []
    }

    /// What to do now.
    enum Step: Sendable, Equatable {
        case run(Round)
        /// Decide again at that time, or after the next event.
        case wait(until: Duration?, WaitReason)
    }

    /// Why no round runs.
    enum WaitReason: Sendable, Equatable { case nothingDue, failure, offline, signedOut, otherProcess }

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
        ///   - madeProgress: whether it has applied a change, or the rows of a plan were pulled.
        case failed(retryAfter: Duration? = nil, reachedServer: Bool = false, madeProgress: Bool = false)
        /// The server requires the user to sign in.
        case unauthenticated
        /// The caller cancelled the round.
        case cancelled
    }
}
