// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import TableServer

/// Reads of a file that wait until other reads end, because a database has few readers.
@Suite
struct SQLiteWaitTests {
    /// A clock that moves only when a test advances it.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        let isRead = TestSignal()

        func advance(by duration: Duration) { time.withLock { $0 += duration } }

        func now() -> ContinuousClock.Instant {
            defer { isRead.send() }
            return time.withLock(\.self)
        }
    }

    private static let scope = RowScope(table: TableServer.Table("TodoItem"))

    /// Runs the body while reads use all readers of a file.
    private func whileReadersWait(
        _ clock: Clock = Clock(),
        _ body: (_ storage: SQLiteRowStorage, _ endReads: () -> Void) async throws -> Void
    ) async throws {
        let (directory, scope) = (try TemporaryDirectory(), Self.scope)
        var limits = SQLiteTimeLimits()
        limits.now = { clock.now() }
        let storage = try SQLiteRowStorage(
            path: directory.path + "/rows", tables: [scope.table],
            settings: RowStampSettings(TableServer.Configuration(tables: [scope.table])), limits: limits)
        let (isReading, gate) = (TestSignal(), DispatchSemaphore(value: 0))
        let readers = 5
        try await withThrowingTaskGroup { group in
            for _ in 1...readers {
                group.addTask {
                    try await storage.read(scope) { _ in
                        isReading.send()
                        gate.wait()
                    }
                }
                try await isReading.wait()
                // It has read the clock before and after the wait for a reader.
                try await clock.isRead.wait(for: 2)
            }
            try await body(storage) { for _ in 1...readers { gate.signal() } }
            try await group.waitForAll()
        }
        storage.close()
    }

    @Test(arguments: [true, false])
    func `reads that wait for others fail when the server stops, and after the limit`(
        _ isStopped: Bool
    ) async throws {
        let clock = Clock()
        try await whileReadersWait(clock) { storage, endReads in
            let waiting = Task { try await storage.read(Self.scope) { rows in try rows.row("a") } }
            try await clock.isRead.wait()
            if isStopped {
                storage.interrupt()
            } else {
                clock.advance(by: SQLiteTimeLimits().read + .nanoseconds(1))
            }
            endReads()
            let error = await #expect(throws: RequestError.self) { try await waiting.value }
            #expect(error?.status == 503)
        }
    }

    @Test func `the check of readiness does not wait for reads`() async throws {
        try await whileReadersWait { storage, endReads in
            try await storage.checkReadiness()
            endReads()
        }
    }
}

extension SQLiteTimeLimits {
    /// Reads fail at the first look at the clock by their statements. The wait for their turn takes no time.
    static var noTimeForReads: SQLiteTimeLimits {
        let start = ContinuousClock.now
        var limits = SQLiteTimeLimits()
        limits.read = .zero
        limits.now = { ReadDeadline.current == nil ? start : start + .seconds(1) }
        return limits
    }
}
