// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// Clients that read their responses slowly, or not at all.
@Suite
struct SlowClientTests {
    /// What the socket has accepted at a time, and what it has not.
    private struct Look {
        let seconds: Int
        let sentBytes: Int
        let unsentBytes: Int
        let isStalled: Bool

        init(_ seconds: Int, sent: Int, unsent: Int, isStalled: Bool = false) {
            (self.seconds, self.isStalled) = (seconds, isStalled)
            (sentBytes, unsentBytes) = (sent, unsent)
        }
    }

    /// Expects the result of each look of a connection with a limit of thirty seconds.
    private func check(_ looks: [Look]) {
        var progress = SendProgress(limit: .seconds(30))
        let start = ContinuousClock.now
        for look in looks {
            let isStalled = progress.isStalled(
                sentBytes: look.sentBytes, unsentBytes: look.unsentBytes,
                at: start + .seconds(look.seconds))
            #expect(isStalled == look.isStalled, "after \(look.seconds) seconds")
        }
    }

    @Test func `a client that reads a byte within each time limit is not cut off`() {
        check((0...1000).map { Look($0 * 29, sent: $0, unsent: 1000) })
    }

    @Test func `a client that reads nothing is cut off after the time limit`() {
        check([
            Look(0, sent: 100, unsent: 900), Look(20, sent: 200, unsent: 800),
            Look(30, sent: 200, unsent: 800), Look(49, sent: 200, unsent: 800),
            Look(50, sent: 200, unsent: 800, isStalled: true),
        ])
    }

    @Test func `bytes that are written while a client reads nothing are no progress`() {
        check([
            Look(0, sent: 100, unsent: 10), Look(15, sent: 100, unsent: 20),
            Look(30, sent: 100, unsent: 30, isStalled: true),
        ])
    }

    @Test func `the time between two responses is not limited`() {
        check([
            Look(0, sent: 100, unsent: 10), Look(10, sent: 110, unsent: 0),
            Look(1000, sent: 110, unsent: 50), Look(1029, sent: 110, unsent: 50),
            Look(1030, sent: 110, unsent: 50, isStalled: true),
        ])
    }

    @Test func `a client that reads none of several responses does not keep the connection`() async throws {
        let size = 20_000_000
        try await withServer({ $0.idleTimeout = .milliseconds(500) }) { server, _ in
            let text = ItemValue.text(String(repeating: "x", count: size))
            try await server.put("a", ["text": text], in: "TodoItem")
            let connection = try RawConnection(port: try #require(server.url.port))
            // The response to the second request waits for the first one to be sent.
            let request = "GET /tables/TodoItem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n\r\n"
            try connection.send(request + request)
            await #expect(connection.read().hasPrefix("HTTP/1.1 200 "))
            // Returns when the connection is closed.
            await server.stop(within: .seconds(3600))
            await #expect(connection.readToEnd().utf8.count < size)
        }
    }
}
