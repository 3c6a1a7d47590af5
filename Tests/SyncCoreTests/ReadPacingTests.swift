// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import TestSupport
import Testing

@testable import SyncCore

/// How an observer spaces its reads.
struct ReadPacingTests {
    private var pacing = ReadPacing()

    @Test mutating func `a change after a pause is read at once`() {
        read(at: 0, for: 10)
        #expect(pacing.wait(at: time(10)) == .milliseconds(10))
        read(at: 100, for: 10)
        #expect(pacing.wait(at: time(1000)) == .zero)
    }

    @Test mutating func `a minute of commits costs a few reads a second`() {
        var (now, reads) = (0, 0)
        while now < 60_000 {
            now += Int(pacing.wait(at: time(now)) / .milliseconds(1))
            read(at: now, for: 2)
            now += 2
            reads += 1
        }
        #expect((200...260).contains(reads))
    }

    @Test mutating func `a long read is followed by a rest of the same length`() {
        read(at: 0, for: 900)
        #expect(pacing.wait(at: time(900)) == .milliseconds(900))
        read(at: 1800, for: 900)
        #expect(pacing.wait(at: time(2700)) == .milliseconds(900))
    }

    @Test mutating func `a clock that was set causes no rest`() {
        read(at: 10_000, for: 10)
        #expect(pacing.wait(at: time(0)) == .zero)
        read(at: 0, for: 3_600_000)
        #expect(pacing.wait(at: time(3_600_000)) == .zero)
    }

    @Test mutating func `an interval is also kept after a read that may have been long`() {
        pacing = ReadPacing(interval: .seconds(60))
        read(at: 0, for: 12_000)
        #expect(pacing.wait(at: time(12_000)) == .seconds(60))
        #expect(pacing.wait(at: time(100_000)) == .zero)
    }

    @Test
    mutating func `with an interval, reads are that far apart, and a change after a pause is read at once`() {
        pacing = ReadPacing(interval: .seconds(1))
        var (now, reads) = (0, 0)
        while now < 60_000 {
            read(at: now, for: 2)
            reads += 1
            now += 2 + Int(pacing.wait(at: time(now + 2)) / .milliseconds(1))
        }
        #expect(reads == 60)
        #expect(pacing.wait(at: time(now)) == .zero)
    }

    @Test mutating func `an observer that is cancelled during a delay ends at once`() async throws {
        let delayed = TestSignal()
        var environment = SyncEnvironment.inline
        environment.sleep = { duration in
            delayed.send()
            try await Task.sleep(for: duration)
        }
        let context = SyncContext(
            client: SyncClient(url: try #require(URL(string: "http://127.0.0.1:9"))),
            dataSource: try MemoryStore(tables: []), environment: environment)
        pacing = ReadPacing(interval: .seconds(1_000_000))
        read(at: 0, for: 0)
        let delay = Task { [pacing] in
            var pacing = pacing
            try await pacing.delay(in: context)
        }
        try await delayed.wait()
        delay.cancel()
        await #expect(throws: CancellationError.self) { try await delay.value }
        try await context.close()
    }

    private mutating func read(at start: Int, for milliseconds: Int) {
        pacing.didRead(from: time(start), to: time(start + milliseconds))
    }

    private func time(_ milliseconds: Int) -> Timestamp {
        Timestamp.unixEpoch.advanced(by: .milliseconds(milliseconds))
    }
}
