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

        @Test(arguments: [1, 4, 5, Int.max])
        func `a pool of any size has connections for writes and reads`(_ size: Int) async throws {
            let pool = try Self.pool(size)
            #expect(try await pool.run(.write) { _ in 1 } + pool.run(.read) { _ in 2 } == 3)
        }

        @Test(arguments: [1, 2])
        func `requests get connections in their order, and never more than the maximum`(
            _ size: Int
        ) async throws {
            let pool = try Self.pool(size)
            let runs = Runs()
            let gate = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup { group in
                for n in 0..<20 {
                    group.addTask {
                        try await pool.run(.read) { _ in
                            if n < size { gate.wait() }
                            runs.begin(n)
                            runs.end()
                        }
                    }
                    // The task waits, or the connections are in use.
                    while pool.useCount <= n { await Task.yield() }
                }
                for _ in 0..<size { gate.signal() }
                try await group.waitForAll()
            }
            #expect(runs.greatestCount <= size)
            // Of several that run at the same time, any can be first.
            #expect(size > 1 || runs.order == Array(0..<20))
            #expect(runs.order.sorted() == Array(0..<20))
            #expect(pool.useCount == 0)
        }

        @Test func `a cancelled request does not use up a connection`() async throws {
            let pool = try Self.pool(1)
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = pool.run(.read) { _ in gate.wait() }
            while pool.useCount < 1 { await Task.yield() }
            let second = Task { try await pool.run(.read) { _ in Issue.record("It is cancelled.") } }
            while pool.useCount < 2 { await Task.yield() }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            gate.signal()
            try await first
            try await #expect(pool.run(.read) { _ in 1 } == 1)
        }

        @Test(arguments: [(ConnectionPool.Use.write, ConnectionPool.Use.read), (.read, .write)])
        func `writes that wait leave connections to reads, and long reads leave one to writes`(
            _ use: ConnectionPool.Use, _ other: ConnectionPool.Use
        ) async throws {
            let pool = try Self.pool(4)
            let gate = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup { group in
                for n in 1...10 {
                    group.addTask { try await pool.run(use) { _ in gate.wait() } }
                    while pool.useCount < n { await Task.yield() }
                }
                try await #expect(pool.run(other) { _ in 1 } == 1)
                for _ in 1...10 { gate.signal() }
                try await group.waitForAll()
            }
            #expect(pool.useCount == 0)
        }

        @Test func `requests that wait fail when the pool is closed`() async throws {
            let pool = try Self.pool(1)
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = pool.run(.read) { _ in gate.wait() }
            while pool.useCount < 1 { await Task.yield() }
            let second = Task { try await pool.run(.read) { _ in } }
            while pool.useCount < 2 { await Task.yield() }
            pool.close()
            await #expect(throws: ConnectionPool.Closed.self) { try await second.value }
            await #expect(throws: ConnectionPool.Closed.self) { try await pool.run(.read) { _ in } }
            gate.signal()
            try await first
        }
    }
#endif
