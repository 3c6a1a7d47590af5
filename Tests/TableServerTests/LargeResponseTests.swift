// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// Responses that are larger than the buffers of sockets.
struct LargeResponseTests {
    private static let size = 20_000_000

    /// Runs the body with a server whose list is large, and a connection that has requested it.
    private func withLargeList(
        _ adjust: (inout TableServer.Configuration) -> Void = { _ in }, fault: ServerFault? = nil,
        _ body: (TableServer, RawConnection) async throws -> Void
    ) async throws {
        try await withServer(adjust) { server, _ in
            let text = ItemValue.text(String(repeating: "x", count: Self.size))
            try await server.put("a", ["text": text], in: "TodoItem")
            if let fault { server.inject(fault) }
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send("GET /tables/TodoItem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n\r\n")
            try await body(server, connection)
        }
    }

    /// Begins to stop the server, and returns when it has closed idle connections.
    private func beginStop(of server: TableServer) async throws -> Task<Void, Never> {
        let idle = try RawConnection(port: try #require(server.url.port))
        try idle.send("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        await #expect(idle.read().hasPrefix("HTTP/1.1 200 "))
        let stop = Task { await server.stop(within: .seconds(3600)) }
        _ = await idle.readToEnd()
        return stop
    }

    @Test func `a server that stops sends the whole response of a request under way`() async throws {
        let gate = RequestGate()
        try await withLargeList(fault: .hold(gate)) { server, connection in
            await gate.waitForArrivals()
            let stop = try await beginStop(of: server)
            gate.open()
            await #expect(connection.readToEnd().utf8.count > Self.size)
            await stop.value
        }
    }

    @Test func `a server that stops sends the rest of a response that the client reads slowly`() async throws
    {
        try await withLargeList { server, connection in
            let start = await connection.read()
            #expect(start.hasPrefix("HTTP/1.1 200 "))
            let stop = try await beginStop(of: server)
            let rest = await connection.readToEnd()
            #expect(start.utf8.count + rest.utf8.count > Self.size)
            await stop.value
        }
    }

    @Test func `a connection for one request ends after the whole response`() async throws {
        try await withLargeList({ $0.keepsConnections = false }) { _, connection in
            await #expect(connection.readToEnd().utf8.count > Self.size)
        }
    }

    @Test func `a client that has ended its side receives the whole response`() async throws {
        try await withLargeList { _, connection in
            connection.endSending()
            await #expect(connection.readToEnd().utf8.count > Self.size)
        }
    }

    @Test func `a server that stops within a limit does not wait longer for a client that reads nothing`()
        async throws
    {
        try await withLargeList { server, connection in
            _ = await connection.read()
            await server.stop(within: .milliseconds(20))
            await #expect(connection.readToEnd().utf8.count < Self.size)
        }
    }

    @Test func `a client that reads nothing does not keep the connection`() async throws {
        try await withLargeList({ $0.idleTimeout = .milliseconds(50) }) { server, connection in
            _ = await connection.read()
            await server.stop(within: .seconds(3600))
            await #expect(connection.readToEnd().utf8.count < Self.size)
        }
    }
}
