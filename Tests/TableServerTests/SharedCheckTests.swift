// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TableServer
import TestSupport
import Testing

@testable import TableServerPostgreSQL

struct SharedCheckTests {
    private final class State: Sendable {
        let (begins, ends, asksTime) = (TestSignal(), TestSignal(), TestSignal())
        let now = Mutex(ContinuousClock.now)
        let count = Atomic(0)
    }

    @Test func `callers share a running check, and do not wait for an old one`() async throws {
        let state = State()
        let check = SharedCheck(maxAge: .seconds(5)) {
            state.asksTime.send()
            return state.now.withLock(\.self)
        }
        let first = Task {
            try await check.run {
                state.begins.send()
                try await state.ends.wait()
                state.count.add(1, ordering: .relaxed)
            }
        }
        try await state.begins.wait()
        let second = Task { try await check.run { state.count.add(10, ordering: .relaxed) } }
        try await state.asksTime.wait(for: 2)
        state.now.withLock { $0 += .seconds(5) }
        await #expect(throws: TableServerError.self) { try await check.run {} }
        state.ends.finish()
        try await first.value
        try await second.value
        try await check.run { state.count.add(100, ordering: .relaxed) }
        #expect(state.count.load(ordering: .relaxed) == 101)
    }
}
