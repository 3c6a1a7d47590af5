// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Ends a push when the service answers several operations in a row with a server error.
final class ServerErrorStreak: Sendable {
    private static let limit = 3
    private let state = Mutex((count: 0, hasSucceeded: false))

    /// Whether the service has carried out an operation in this push: a server error is then the operation's own.
    var hasSucceeded: Bool { state.withLock { $0.hasSucceeded } }

    /// Records that the service has carried out an operation.
    func noteSuccess() { state.withLock { $0 = (0, true) } }

    /// Counts how an operation ended.
    ///
    /// - Returns: why the push has to end, when it has to.
    func note(_ end: Turn.End) -> SyncError? {
        switch end {
        case .untouched, .skipped, .completed, .completedWithError: return nil
        case .failed:
            state.withLock { $0.count = 0 }
            return nil
        case .unconfirmed(let error):
            let isLimit = state.withLock { state in
                state.count += 1
                return state.count == Self.limit
            }
            guard isLimit else { return nil }
            return SyncError(
                .pushAbortedService,
                "The service failed to answer \(Self.limit) operations in a row. \(error.message)",
                cause: error, mayRetry: true)
        }
    }
}
