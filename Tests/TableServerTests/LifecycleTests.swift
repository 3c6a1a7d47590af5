// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import TestSupport
import Testing

@testable import TableServer

@Suite
struct LifecycleTests {
    @Test func `servers start and stop many times with open connections`() async throws {
        for _ in 0..<50 {
            try await withServer { _, client in
                try await #expect(client.insert(["id": "a"]).status == 201)
            }
        }
    }

    #if os(Linux)
        @Test func `stopped servers leave no file or socket open`() async throws {
            // In a separate process, where no other test opens files.
            await #expect(processExitsWith: .success) {
                func openFiles() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                }
                let tables = [TableServer.Table("TodoItem")]
                try await withTableServer(.init(tables: tables)) { _ in }
                let before = try openFiles()
                for _ in 0..<10 {
                    try await withTemporaryDirectory { directory in
                        let file = directory.appending(path: "rows.sqlite").path
                        try await withTableServer(.init(tables: tables, storage: .file(file))) { server in
                            _ = try await server.put("a", [:], in: "TodoItem")
                        }
                    }
                }
                let after = try openFiles()
                precondition(after == before, "\(before) open files became \(after).")
            }
        }

        @Test func `a cancelled start leaves no server behind`() async {
            await #expect(processExitsWith: .success) {
                func openFiles() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                }
                let configuration = TableServer.Configuration(tables: [.init("TodoItem")])
                // The process opens its event loops at the first start.
                try await withTableServer(configuration) { _ in }
                let before = try openFiles()
                let start = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await TableServer.start(configuration: configuration)
                }
                guard case .failure(let error as TableServerError) = await start.result else {
                    preconditionFailure("The server has started.")
                }
                precondition(error.message.hasSuffix("the task was cancelled."), error.message)
                let after = try openFiles()
                precondition(after == before, "\(before) open files became \(after).")
            }
        }
    #endif

    /// Starts a server, and sends an insert that waits at a gate.
    private func serverHoldingInsert() async throws -> (
        TableServer, TestClient, RequestGate, Task<TestClient.Reply, any Error>
    ) {
        let server = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
        let (client, gate) = (TestClient(server), RequestGate())
        server.inject(.hold(gate))
        let held = Task { try await client.insert(["id": "a"]) }
        await gate.waitForArrivals()
        return (server, client, gate, held)
    }

    @Test func `stopping a server ends suspended requests, and a second stop has no effect`()
        async throws
    {
        let (server, client, _, held) = try await serverHoldingInsert()
        await server.stop()
        await #expect(throws: (any Error).self) { try await held.value }
        // Another server may use the port now; this request must not reach the stopped one.
        _ = try? await client.list("TodoItem")
        #expect(server.requests.count == 1)
        #expect(try server.rows(in: "TodoItem").isEmpty)
        await server.stop()
    }

    @Test func `a server that stops within a limit answers the requests under way, and accepts no others`()
        async throws
    {
        let (server, _, gate, held) = try await serverHoldingInsert()
        let port = try #require(server.url.port)
        let idle = try RawConnection(port: port)
        try idle.send("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        await #expect(idle.read().hasPrefix("HTTP/1.1 200 "))
        let stop = Task { await server.stop(within: .seconds(3600)) }
        // The server closes idle connections when it begins to stop.
        _ = await idle.readToEnd()
        // Processes that other tests start inherit the listening socket, so that a connection may still be made.
        let late = try? RawConnection(port: port)
        try? late?.send("GET /tables/TodoItem?late HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n\r\n")
        gate.open()
        #expect(try await held.value.status == 201)
        await stop.value
        #expect(try server.rows(in: "TodoItem").map(\.id) == ["a"])
        #expect(!server.requests.contains { $0.query.contains("late") })
    }

    @Test func `a server that stops within a limit closes connections after it`() async throws {
        let (server, _, _, held) = try await serverHoldingInsert()
        await server.stop(within: .milliseconds(1))
        await #expect(throws: (any Error).self) { try await held.value }
        #expect(try server.rows(in: "TodoItem").isEmpty)
    }

    @Test func `the limit of a stop also holds in a cancelled task`() async throws {
        let (server, _, _, held) = try await serverHoldingInsert()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await server.stop(within: .milliseconds(1))
        }.value
        await #expect(throws: (any Error).self) { try await held.value }
    }

    @Test func `each of several stops at the same time returns when the file is closed`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite")
            func configuration(_ file: URL) -> TableServer.Configuration {
                .init(tables: [.init("TodoItem")], storage: .file(file.path))
            }
            let server = try await TableServer.start(configuration: configuration(file))
            try await server.put("a", [:], in: "TodoItem")
            let copies = (1...8).map { directory.appending(path: "copy\($0).sqlite") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for copy in copies {
                    group.addTask {
                        await server.stop()
                        // Closing moves the log into the file.
                        try FileManager.default.copyItem(at: file, to: copy)
                    }
                }
                try await group.waitForAll()
            }
            for copy in copies {
                try await withTableServer(configuration(copy)) { server in
                    let rows = try server.rows(in: "TodoItem")
                    #expect(rows.map(\.id) == ["a"])
                }
            }
        }
    }

    @Test func `a server says that it is alive, and that its rows can be read`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            let configuration = TableServer.Configuration(tables: [.init("TodoItem")], storage: .file(file))
            try await withTableServer(configuration) { server in
                let client = TestClient(server)
                for (path, status) in [("live", "live"), ("ready", "ready")] {
                    let reply = try await client.send("GET", "/health/\(path)")
                    #expect(reply.status == 200 && reply["status"] == .text(status))
                }
                server.service.storage.close()
                #expect(try await client.send("GET", "/health/live").status == 200)
                let reply = try await client.send("GET", "/health/ready")
                #expect(reply.status == 503 && reply["status"] == "unavailable")
                for path in ["/health", "/health/", "/health/other", "/health/live/"] {
                    #expect(try await client.send("GET", path).status == 404)
                }
                #expect(try await client.send("POST", "/health/live").status == 404)
            }
        }
    }

    @Test(arguments: [
        "", "GET /health/live HTTP/1.1\r\nHo", "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /tables/TodoItem HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
    ])
    func `a connection on which no request arrives is closed`(_ text: String) async throws {
        try await withServer({ $0.idleTimeout = .milliseconds(20) }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            // On a slow machine it can be closed before.
            try? connection.send(text)
            _ = await connection.readToEnd()
        }
    }

    @Test func `a request whose response takes long is not limited in time`() async throws {
        try await withServer({ $0.idleTimeout = .milliseconds(20) }) { server, _ in
            let port = try #require(server.url.port)
            let gate = RequestGate()
            server.inject(.hold(gate))
            let response = Task {
                var text = ""
                // On a slow machine the connection can be closed before the request arrives.
                while text.isEmpty {
                    let connection = try RawConnection(port: port)
                    try? connection.send(
                        "GET /tables/TodoItem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n\r\n")
                    text = await connection.read()
                }
                return text
            }
            await gate.waitForArrivals()
            // This connection is idle for the whole limit.
            let idle = try RawConnection(port: port)
            _ = await idle.readToEnd()
            gate.open()
            #expect(try await response.value.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(arguments: [
        ("GET /health/live HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n", 200),
        ("POST /a HTTP/1.1\r\nUpgrade: b\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\n{}", 404),
        ("CONNECT a.example:80 HTTP/1.1\r\n\r\n", 404),
        ("GET /health/live HTTP/1.1\r\nConnection: Close\r\n\r\n", 200),
        ("GET /health/live HTTP/1.1\r\nConnection: TE, close\r\n\r\n", 200),
        ("GET /health/live HTTP/1.0\r\n\r\n", 200),
        ("GET /health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200),
    ])
    func `a request after which no other can follow is answered, and ends the connection`(
        _ request: String, _ status: Int
    ) async throws {
        // Otherwise this limit ends the connection.
        try await withServer({ $0.idleTimeout = .seconds(60) }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send(request)
            let response = await connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.") && response.contains(" \(status) "))
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(server.requests.map(\.status) == [status])
        }
    }

    @Test func `requests before the last one of a connection are answered, and those after it are not`()
        async throws
    {
        try await withServer({ $0.idleTimeout = .seconds(60) }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            let request = "GET /health/live HTTP/1.1\r\nHost: a\r\n"
            try connection.send("\(request)\r\n\(request)Connection: Close\r\n\r\n\(request)\r\n")
            let responses = await connection.readToEnd().split(separator: "HTTP/1.1 200 ")
            #expect(responses.map { $0.contains("\r\nConnection: close\r\n") } == [false, true])
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a server logs that rows are hidden since the table belongs to users, or no longer does`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let file = TableServer.Storage.file(directory.appending(path: "rows.sqlite").path)
            let shared = TableServer.Table("TodoItem")
            let perUser = TableServer.Table(
                "TodoItem", permissions: .init(.authenticated), isPerUser: true)
            let other = TableServer.Storage.file(directory.appending(path: "other.sqlite").path)
            for (table, file, isHidden) in [
                (shared, file, false), (shared, file, false), (perUser, file, true), (perUser, other, false),
                (perUser, other, false), (shared, other, true),
            ] {
                let log = LogMessages()
                var configuration = TableServer.Configuration(tables: [table], storage: file)
                configuration.authentication = try Tokens.authentication()
                configuration.clock = .standing(at: .noon)
                configuration.logger = log.logger
                try await withTableServer(configuration) { server in
                    let headers = ["X-ZUMO-AUTH": try await Tokens.token(of: "ann")]
                    let reply = try await TestClient(server).send(
                        "POST", "/tables/TodoItem", ["text": "x"], headers: headers)
                    #expect(reply.status == 201)
                }
                #expect(log.all.contains { $0.contains("hidden") } == isHidden)
            }
        }
    }

    @Test func `a server logs that changes are ahead of its clock, until their times are set back`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "rows.sqlite").path
            /// Starts a server with that clock, and returns the messages about it.
            func start(_ time: Timestamp) async throws -> [String] {
                let log = LogMessages()
                var configuration = TableServer.Configuration(
                    tables: [.init("TodoItem")], storage: .file(path))
                (configuration.clock, configuration.logger) = (.standing(at: time), log.logger)
                try await withTableServer(configuration) { server in
                    try await #expect(TestClient(server).insert(["text": "x"]).status == 201)
                }
                return log.all.filter { $0.contains("ahead of the clock") }
            }
            let later = Timestamp.noon.advanced(by: .seconds(86_400))
            #expect(try await start(later).isEmpty)
            #expect(try await start(.noon).count == 1)
            let now = Timestamp.noon.storedText
            let database = try DatabaseQueue(path: path)
            for table in ["rows_todoitem", "serverStamp"] {
                try await database.write {
                    try $0.execute(sql: "UPDATE \(table) SET updatedAt = '\(now)' WHERE updatedAt > '\(now)'")
                }
            }
            try database.close()
            #expect(try await start(.noon).isEmpty)
        }
    }

    @Test func `a server stops while clients connect`() async throws {
        for round in 0..<40 {
            let server = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
            await withTaskGroup { group in
                for _ in 0..<6 {
                    group.addTask {
                        // The request may succeed or fail; the test requires only that `stop()` returns.
                        _ = try? await TestClient(server).insert(["text": "Milk"])
                    }
                }
                // Varies the moment of the stop; the test does not depend on it.
                for _ in 0..<round { await Task.yield() }
                await server.stop()
            }
            #expect(try server.rows(in: "TodoItem").count <= server.requests.count)
        }
    }

    @Test func `several servers run at the same time`() async throws {
        try await withServer { first, firstClient in
            try await withServer { second, secondClient in
                #expect(first.url != second.url)
                _ = try await firstClient.insert(["id": "a"])
                #expect(try await secondClient.list("TodoItem").items.isEmpty)
            }
        }
    }

    @Test func `a port in use is a binding error`() async throws {
        try await withServer { server, _ in
            let port = try #require(server.url.port)
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.port = port }) { _, _ in }
            }
            #expect(error?.code == .binding)
            #expect(error?.message == "The server cannot listen on 127.0.0.1:\(port): the port is in use.")
            #expect(error?.cause != nil)
        }
    }

    @Test func `a server can start again on its port`() async throws {
        // Another test's server may get the port between the two servers, but not in every attempt.
        for _ in 0..<10 {
            let first = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
            _ = try await TestClient(first).list("TodoItem")
            await first.stop()
            var configuration = TableServer.Configuration(tables: [.init("TodoItem")])
            configuration.port = try #require(first.url.port)
            guard let second = try? await TableServer.start(configuration: configuration) else { continue }
            #expect(second.url == first.url)
            let reply = try await TestClient(second).list("TodoItem")
            #expect(reply.status == 200)
            await second.stop()
            return
        }
        Issue.record("The port was in use in all attempts.")
    }

    @Test(
        arguments: [
            { $0.tables = [] }, { $0.tables = [.init("a"), .init("A")] }, { $0.tables = [.init("no name")] },
            { $0.pageSize = 0 }, { $0.maxTop = 0 }, { $0.fractionDigits = 10 }, { $0.keptFractionDigits = 2 },
            { $0.port = 70_000 }, { $0.tables = [.init("note"), .init("Note_by_ID")] },
        ] as [@Sendable (inout TableServer.Configuration) -> Void])
    func `an invalid configuration is an error`(
        _ adjust: @Sendable (inout TableServer.Configuration) -> Void
    ) async throws {
        let error = await #expect(throws: TableServerError.self) { try await withServer(adjust) { _, _ in } }
        #expect(error?.code == .configuration)
    }

    @Test func `a server stops when its body throws`() async throws {
        struct Failure: Error {}
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            await #expect(throws: Failure.self) {
                try await withServer({ $0.storage = .file(file) }) { _, _ in throw Failure() }
            }
            // A running server would keep the file open.
            try await DatabaseQueue(path: file).writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            }
        }
    }
}
