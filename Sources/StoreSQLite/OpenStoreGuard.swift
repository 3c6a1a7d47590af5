// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore
import Synchronization

/// Allows reads and writes until the store closes; `close()` waits for the running ones.
final class OpenStoreGuard: Sendable {
    private let isClosed = Mutex(false)
    private let running = DispatchGroup()

    /// Runs the body if the store is open.
    ///
    /// - Throws: ``StoreError/Code/closed``; what the body throws.
    func run<T>(_ body: () throws -> T) throws -> T {
        try isClosed.withLock { isClosed throws(StoreError) in
            guard !isClosed else { throw StoreError(.closed, "The store is closed.") }
            running.enter()
        }
        defer { running.leave() }
        return try body()
    }

    /// Refuses further calls and waits for the running ones.
    ///
    /// - Returns: whether the store was open.
    func close() -> Bool {
        let wasOpen = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        running.wait()
        return wasOpen
    }
}
