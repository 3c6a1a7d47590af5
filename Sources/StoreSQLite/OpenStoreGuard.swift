// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore
import Synchronization

/// Allows reads and writes until the store closes; `close()` waits for the running ones.
final class OpenStoreGuard: Sendable {
    private let isClosed = Mutex(false)
    private let running = DispatchGroup()
    private let closing = DispatchGroup()

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

    /// Refuses further calls, waits for the running ones, and runs the body. A further call waits until the first one has ended.
    func close(_ body: () throws -> Void) rethrows {
        let isFirst = isClosed.withLock { isClosed in
            guard !isClosed else { return false }
            isClosed = true
            closing.enter()
            return true
        }
        guard isFirst else { return closing.wait() }
        defer { closing.leave() }
        running.wait()
        try body()
    }
}
