// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that the server answers with 401 although a user is signed in. Some services also answer so to a change that
/// this user is not permitted to make.
///
/// A push ends at such an operation, because the sign-in may have expired. After two pushes that have ended at it, later pushes
/// send it last. If the server has applied another operation of the same push, the 401 is a refusal of this one. Operations are
/// known until the server answers them otherwise, or the context is closed.
///
/// Without a token, a 401 says nothing about its operation, unless it answers a read of the row before the change: the table may
/// permit writes only. Such an operation is known after one push, and refused if the server has applied another one of its table.
final class UnauthorizedOperations: Sendable {
    private static let limit = 2

    private struct State {
        /// The number of pushes that have ended with 401, by the id of the operation.
        var counts: [Int64: Int] = [:]
        /// The operations whose rows cannot be read without a token.
        var hidden: Set<Int64> = []

        var known: Set<Int64> { hidden.union(counts.filter { $0.value >= limit }.keys) }
    }

    private let state = Mutex(State())

    /// The ids of the operations that a push sends last.
    var known: Set<Int64> { state.withLock(\.known) }

    /// Records that the row of the operation cannot be read without a token.
    func recordHiddenRow(of id: Int64) { state.withLock { _ = $0.hidden.insert(id) } }

    /// Whether the row of the operation cannot be read without a token.
    func isHidden(_ id: Int64) -> Bool { state.withLock { $0.hidden.contains(id) } }

    /// Records that a push has ended at the operation with 401.
    ///
    /// - Returns: whether two others have ended at it before.
    func recordEnd(at id: Int64) -> Bool {
        state.withLock { state in
            let count = state.counts[id, default: 0]
            state.counts[id] = count + 1
            return count >= Self.limit
        }
    }

    /// Returns the outcome of an operation in view of the pushes before.
    ///
    /// - Parameter pushed: what the server has done with the operations of the same push.
    func outcome(
        _ outcome: AttemptOutcome, of id: Int64, in table: String, after pushed: ServerErrorStreak
    ) -> AttemptOutcome {
        switch outcome {
        case .unavailable: return outcome
        case .unauthenticated(let status):
            let isHidden = isHidden(id)
            let acceptsOthers = isHidden ? pushed.hasSucceeded(in: table) : pushed.hasSucceeded
            guard acceptsOthers, known.contains(id) else { return outcome }
            return .refused(
                status: status,
                message: isHidden
                    ? "The server requires the user to sign in to read this row, and has applied other changes of the table. "
                        + "Without the row, the change cannot be sent again."
                    : "The server requires the user to sign in for this change, and has applied others "
                        + "with the same sign-in. The user may not be permitted to make it.")
        default:
            state.withLock { state in
                state.counts[id] = nil
                state.hidden.remove(id)
            }
            return outcome
        }
    }
}

extension SyncContext {
    /// The ids of the operations that a push sends last, although no error is recorded for them.
    package var operationIDsSentLast: Set<Int64> { unanswered.sentLast.union(unauthorized.known) }

    /// Records that a push has ended at the operation with 401.
    ///
    /// - Returns: whether it may be about this operation only.
    func recordUnauthorized(_ operation: TableOperation) -> Bool {
        guard client.authenticationToken != nil else { return unauthorized.isHidden(operation.id) }
        return unauthorized.recordEnd(at: operation.id)
    }
}
