// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Dispatch
    import Synchronization
    import Testing

    @testable import TableServerPostgreSQL

    /// Who uses the connections. The bodies use no database.
    @Suite
    struct ConnectionPoolTests {
        /// The bodies that have run.
        private final class Runs: Sendable {
            private let state = Mutex((count: 0, greatestCount: 0, order: [Int]()))

            var greatestCount: Int { state.withLock { $0.greatestCount } }
            var order: [Int] { state.withLock { $0.order } }

            func begin(_ number: Int) {
                state.withLock { state in
                    state.count += 1
                    state.greatestCount = max(state.greatestCount, state.count)
                    state.order.append(number)
                }
            }

            func end() { state.withLock { $0.count -= 1 } }
        }

        private static func pool(_ size: Int) throws -> ConnectionPool {
            ConnectionPool(try PostgreSQLParameters("host=/nosuch"), size: size)
        }

        @Test func `requests get connections in their order, and never more than the maximum`() async throws {
            let pool = try Self.pool(2)
            let runs = Runs()
            let gate = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup { group in
                for n in 0..<20 {
                    group.addTask {
                        try await pool.run { _ in
                            if n < 2 { gate.wait() }
                            runs.begin(n)
                            runs.end()
                        }
                    }
                    // The task waits, or both connections are in use.
                    while pool.useCount <= n { await Task.yield() }
                }
                gate.signal()
                gate.signal()
                try await group.waitForAll()
            }
            #expect(runs.greatestCount <= 2)
            // Two run at the same time, so neighbors can change places.
            #expect(runs.order.enumerated().allSatisfy { abs($0.offset - $0.element) <= 2 })
            #expect(pool.useCount == 0)
        }

        @Test func `a cancelled request does not use up a connection`() async throws {
            let pool = try Self.pool(1)
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = pool.run { _ in gate.wait() }
            while pool.useCount < 1 { await Task.yield() }
            let second = Task { try await pool.run { _ in Issue.record("It is cancelled.") } }
            while pool.useCount < 2 { await Task.yield() }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            gate.signal()
            try await first
            try await #expect(pool.run { _ in 1 } == 1)
        }

        @Test func `requests that wait fail when the pool is closed`() async throws {
            let pool = try Self.pool(1)
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = pool.run { _ in gate.wait() }
            while pool.useCount < 1 { await Task.yield() }
            let second = Task { try await pool.run { _ in } }
            while pool.useCount < 2 { await Task.yield() }
            pool.close()
            await #expect(throws: ConnectionPool.Closed.self) { try await second.value }
            await #expect(throws: ConnectionPool.Closed.self) { try await pool.run { _ in } }
            gate.signal()
            try await first
        }
    }
#endif
