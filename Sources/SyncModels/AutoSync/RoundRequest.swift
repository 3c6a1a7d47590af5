// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The wait of a caller for a round that begins after its call.
final class RoundRequest: Sendable {
    private let outcome = Mutex<Result<SyncResult, any Error>?>(nil)

    /// The result of the round; `nil` until its end.
    var result: Result<SyncResult, any Error>? { outcome.withLock { $0 } }

    func complete(with result: Result<SyncResult, any Error>) { outcome.withLock { $0 = result } }
}
