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
    /// A clock that counts its readings.
    private final class Clock: Sendable {
        private let state = Mutex((offset: Duration.zero, readings: 0))

        var readings: Int { state.withLock(\.readings) }

        func advance(by duration: Duration) { state.withLock { $0.offset += duration } }

        func now() -> ContinuousClock.Instant {
            state.withLock { state in
                state.readings += 1
                return ContinuousClock.now + state.offset
            }
        }
    }

    @Test(arguments: [true, false])
    func `reads that wait for others fail when the server stops, and after the limit`(
        _ isStopped: Bool
    ) async throws {
        let clock = Clock()
        var limits = SQLiteTimeLimits()
        limits.now = { clock.now() }
        let directory = try TemporaryDirectory()
        let scope = RowScope(table: TableServer.Table("TodoItem"))
        let storage = try SQLiteRowStorage(
            path: directory.path + "/rows", tables: [scope.table],
            settings: RowStampSettings(TableServer.Configuration(tables: [scope.table])), limits: limits)
        let gate = DispatchSemaphore(value: 0)
        let readers = 5
        try await withThrowingTaskGroup { group in
            for number in 1...readers {
                group.addTask { try await storage.read(scope) { _ in gate.wait() } }
                // It has read the clock before and after the wait for a reader.
                while clock.readings < 2 * number { await Task.yield() }
            }
            let waiting = Task { try await storage.read(scope) { rows in try rows.row("a") } }
            while clock.readings < 2 * readers + 1 { await Task.yield() }
            if isStopped { storage.interrupt() } else { clock.advance(by: limits.read) }
            for _ in 1...readers { gate.signal() }
            let error = await #expect(throws: RequestError.self) { try await waiting.value }
            #expect(error?.status == 503)
            try await group.waitForAll()
        }
        storage.close()
    }
}

extension SQLiteTimeLimits {
    /// Reads fail at the first look at the clock. The wait for their turn does not count.
    static var noTimeForReads: SQLiteTimeLimits {
        let now = ContinuousClock.now
        var limits = SQLiteTimeLimits()
        limits.read = .zero
        limits.now = { now }
        return limits
    }
}
