// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Ends a push after three operations in a row that the service has answered and not confirmed. A success, a refusal or a
/// conflict between them begins the count again.
final class ServerErrorStreak: Sendable {
    private static let limit = 3
    private let state = Mutex((count: 0, tables: Set<String>()))

    /// Whether the server has applied an operation of this push: a server error then counts towards ``Parking``, and so
    /// does the 401 of ``UnauthorizedOperations``.
    var hasSucceeded: Bool { state.withLock { !$0.tables.isEmpty } }

    /// Whether the server has applied an operation of the table in this push.
    func hasSucceeded(in table: String) -> Bool { state.withLock { $0.tables.contains(table) } }

    /// Records a completed operation. It ends the streak if a request was answered; only a confirmed write shows that the
    /// server applies writes.
    func recordCompletion(by requests: SentRequests, in table: String) {
        guard requests.hasResponse else { return }
        state.withLock { state in
            state.count = 0
            if requests.isConfirmed { state.tables.insert(table) }
        }
    }

    /// Begins to count again.
    func restart() { state.withLock { $0.count = 0 } }

    /// Records how an operation ended.
    ///
    /// - Returns: the error that ends the push, when the limit is reached.
    func record(_ outcome: OperationRun.Outcome) -> SyncError? {
        switch outcome {
        // Without a request nothing is known about the service.
        case .notExecuted, .skipped, .held, .completed, .completedWithError: return nil
        case .failed(let error) where error.isAboutUnsentOperation: return nil
        case .failed:
            state.withLock { $0.count = 0 }
            return nil
        case .unconfirmed(let error):
            let isLimit = state.withLock { state in
                state.count += 1
                return state.count == Self.limit
            }
            return isLimit ? PushEnding.tooManyServerErrors(Self.limit, last: error) : nil
        }
    }
}
