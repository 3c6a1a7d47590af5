// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TableServer

/// A check of a connection that all callers share while it runs. Without that, each of them would wait for those before.
final class SharedCheck: Sendable {
    private struct Running {
        let check: Task<Void, any Error>
        let beginning: ContinuousClock.Instant
    }

    private let running = Mutex<Running?>(nil)
    private let maxAge: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter maxAge: the age from which on a running check is taken for a failed one by new callers.
    init(maxAge: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) {
        (self.maxAge, self.now) = (maxAge, now)
    }

    /// Waits for the running check, or runs this one.
    ///
    /// - Throws: what the check throws; ``/TableServer/TableServerError`` at once if the running one is too old.
    func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
        let current = try running.withLock { running throws(TableServerError) in
            if let running {
                guard now() - running.beginning < maxAge else {
                    throw TableServerError(.storage, "The database has not answered for \(maxAge).")
                }
                return running.check
            }
            let current = Task {
                defer { self.running.withLock { $0 = nil } }
                try await check()
            }
            running = Running(check: current, beginning: now())
            return current
        }
        try await current.value
    }
}
