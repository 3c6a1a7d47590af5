// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore
import Synchronization

/// Lets reads and writes through until it is closed.
final class OpenStoreGuard: Sendable {
    private let isClosed = Mutex(false)
    private let running = DispatchGroup()

    /// Runs the body, which closing then waits for.
    func pass<T>(_ body: () throws -> T) throws -> T {
        try isClosed.withLock { isClosed throws(StoreError) in
            guard !isClosed else { throw StoreError(.closed, "The store is closed.") }
            running.enter()
        }
        defer { running.leave() }
        return try body()
    }

    /// Lets nobody through any more, and waits for those inside.
    ///
    /// - Returns: whether the gate was open.
    func close() -> Bool {
        let wasOpen = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        running.wait()
        return wasOpen
    }
}
