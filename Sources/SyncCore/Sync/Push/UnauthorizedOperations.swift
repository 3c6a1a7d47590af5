// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that the server answers with 401. Some services also answer so to a change that the user is not permitted to
/// make.
///
/// A push ends at such an operation, because the user may have to sign in. After two pushes that have ended at it, later pushes
/// send it last. If the server has accepted another change of the same push, 401 is the refusal of this one. Operations are
/// known until the server gives another answer, or the context is closed.
final class UnauthorizedOperations: Sendable {
    private static let limit = 2

    /// The number of pushes that have ended with 401, by the id of the operation.
    private let counts = Mutex<[Int64: Int]>([:])

    /// The ids of the operations that pushes send last.
    var sentLast: Set<Int64> { counts.withLock { Set($0.filter { $0.value >= Self.limit }.keys) } }

    /// Records the outcome of an operation.
    ///
    /// - Parameter acceptsOthers: whether the server has accepted another operation of the same push.
    /// - Returns: the outcome, in view of those before.
    func record(_ outcome: AttemptOutcome, of id: Int64, acceptsOthers: Bool) -> AttemptOutcome {
        counts.withLock { counts in
            switch outcome {
            case .unavailable: return outcome
            case .unauthenticated(let status, _):
                let count = counts[id, default: 0]
                counts[id] = count + 1
                guard count >= Self.limit else { return outcome }
                guard acceptsOthers else { return .unauthenticated(status: status, isOfOperation: true) }
                return .refused(
                    status: status,
                    message: "The server requires the user to sign in for this change, and has accepted "
                        + "others with the same sign-in. The user may not be permitted to make it.")
            default:
                counts[id] = nil
                return outcome
            }
        }
    }
}

extension SyncContext {
    /// The ids of the operations that a push sends last, although no error is recorded for them.
    package var operationIDsSentLast: Set<Int64> { unanswered.alone.union(unauthorized.sentLast) }
}
