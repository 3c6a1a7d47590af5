// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Ends a push when the service answers several operations in a row with a server error.
final class ServerErrorStreak: Sendable {
    private static let limit = 3
    private let count = Mutex(0)

    /// Counts how an operation ended.
    ///
    /// - Returns: why the push has to end, when it has to.
    func note(_ end: Turn.End) -> SyncError? {
        switch end {
        case .untouched, .skipped: return nil
        case .completed, .completedWithError, .failed:
            count.withLock { $0 = 0 }
            return nil
        case .unconfirmed(let error):
            let isLimit = count.withLock { count in
                count += 1
                return count == Self.limit
            }
            guard isLimit else { return nil }
            return SyncError(
                .pushAbortedService,
                "The service failed to answer \(Self.limit) operations in a row. \(error.message)",
                cause: error, mayRetry: true)
        }
    }
}
