// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Dispatch
    import SyncCore
    import Synchronization
    import TestSupport
    import Testing

    @testable import TableServer
    @testable import TableServerPostgreSQL

    /// How long requests wait for a connection to PostgreSQL.
    @Suite
    struct ConnectionWaitTests {
        @Test(arguments: [(ConnectionPool.Use.write, "locked the rows"), (.read, "taken too long")])
        func `a request that waits too long for a connection is 503, and uses up no connection`(
            _ use: ConnectionPool.Use, _ reason: String
        ) async throws {
            let pool = ConnectionPool(try PostgreSQLParameters("host=/nosuch"), size: 1)
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = pool.run(.write) { _ in gate.wait() }
            while pool.useCount < 1 { await Task.yield() }
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.run(use, waitingAtMost: .zero) { _ in }
            }
            #expect(error?.response?.status == 503)
            #expect(error?.response?.message.contains(reason) == true)
            #expect(pool.useCount == 1)
            gate.signal()
            try await first
            // A free connection needs no wait.
            try await #expect(pool.run(use, waitingAtMost: .zero) { _ in 1 } == 1)
            #expect(pool.useCount == 0)
        }

        @Test func `requests for which no connection is free in time are 503, and no write is applied`()
            async throws
        {
            let (isHeld, isReleased) = (TestSignal(), DispatchSemaphore(value: 0))
            var options = PostgreSQLOptions()
            options.timeLimits?.lock = .milliseconds(1)
            options.timeLimits?.read = .milliseconds(1)
            options.timeLimits?.idle = .seconds(600)
            options.beforeCommit = {
                isHeld.send()
                isReleased.wait()
            }
            let storage = TableServer.Storage.postgreSQL(
                try PostgreSQLDatabase().connection, maxConnections: 1, options)
            try await withServer({ $0.storage = storage }) { server, client in
                async let held = client.insert(["id": "a"])
                try await isHeld.wait()
                let replies = [
                    try await client.insert(["id": "b"]), try await client.list("TodoItem"),
                    try await client.get("/tables/TodoItem/a"),
                ]
                for reply in replies {
                    #expect(reply.status == 503)
                    #expect(reply.headers["retry-after"] == "1")
                }
                // The check of readiness has its own connection.
                try await #expect(client.get("/health/ready").status == 200)
                isReleased.signal()
                try await #expect(held.status == 201)
                try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
            }
        }

        @Test(arguments: [1, 1 << 20])
        func `a connection on which the server does not respond in time is lost`(_ length: Int) async throws {
            let database = try PostgreSQLDatabase()
            var limits = PostgreSQLTimeLimits()
            limits.response = .seconds(3)
            let connection = try PostgreSQLConnection(
                PostgreSQLParameters(database.connection, limits: limits))
            try await database.whileConnectionsHang {
                // A long statement is not sent as a whole.
                let statement = "SELECT '\(String(repeating: "a", count: length))'"
                let error = #expect(throws: PostgreSQLError.self) { _ = try connection.run(statement) }
                #expect(error?.isLost == true)
                #expect(connection.isLost)
            }
        }

        @Test func `requests go on when the server does not respond on the connections that they use`()
            async throws
        {
            let database = try PostgreSQLDatabase()
            var options = PostgreSQLOptions()
            options.timeLimits?.response = .seconds(3)
            let storage = TableServer.Storage.postgreSQL(database.connection, maxConnections: 1, options)
            try await withServer({ $0.storage = storage }) { _, client in
                try await #expect(client.insert(["id": "a"]).status == 201)
                try await database.whileConnectionsHang {
                    try await #expect(client.list("TodoItem").ids == ["a"])
                }
                try await database.whileConnectionsHang {
                    try await #expect(client.insert(["id": "b"]).status == 201)
                }
                try await database.whileConnectionsHang {
                    try await #expect(client.get("/health/ready").status == 200)
                }
                try await #expect(client.list("TodoItem").ids == ["a", "b"])
            }
        }

        @Test func `a write waits for its locks only for what is left after the wait for a connection`()
            async throws
        {
            // Time passes between a request and its transaction, and before each lock.
            let clock = Mutex(ContinuousClock.now)
            let now: @Sendable () -> ContinuousClock.Instant = {
                clock.withLock { time in
                    time += Duration.seconds(200)
                    return time
                }
            }
            var options = PostgreSQLOptions()
            options.timeLimits?.lock = .seconds(600)
            options.timeLimits?.now = now
            let scope = RowScope(table: TableServer.Table("TodoItem"))
            let storage = try await PostgreSQLRowStorage(
                try PostgreSQLDatabase().connection, maxConnections: 1, tables: [scope.table],
                settings: RowStampSettings(TableServer.Configuration(tables: [])), options: options)
            let limits = try await storage.write(scope) { rows -> [String] in
                guard let connection = (rows as? PostgreSQLRows)?.connection else { return [] }
                var limits = [try connection.run("SHOW lock_timeout").text(0, 0)]
                for _ in 0..<2 {
                    _ = try rows.stamp()
                    limits.append(try connection.run("SHOW lock_timeout").text(0, 0))
                }
                return limits
            }
            // No time is left at the end, and then a lock must be free.
            #expect(limits == ["400s", "200s", "1ms"])
            storage.close()
        }
    }
#endif
