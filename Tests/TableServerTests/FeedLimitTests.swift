// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// The number of open change feeds.
@Suite
struct FeedLimitTests {
    /// Sends a request for the feed of an empty table without events.
    private func request(
        _ method: String = "GET", _ query: String = "", to server: TableServer, token: String? = nil
    ) throws -> RawConnection {
        let connection = try RawConnection(port: try #require(server.url.port))
        var lines = [
            "\(method) /tables/TodoItem/changes\(query) HTTP/1.1", "Host: localhost",
            "Accept: text/event-stream", "Connection: close", "Last-Event-ID: empty",
            "ZUMO-API-VERSION: 2.0.0",
        ]
        if let token { lines.append("X-ZUMO-AUTH: \(token)") }
        try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }

    /// Returns a feed that the server has opened.
    private func openFeed(
        _ query: String = "", of server: TableServer, token: String? = nil
    ) async throws -> RawConnection {
        let connection = try request("GET", query, to: server, token: token)
        await #expect(connection.read().hasPrefix("HTTP/1.1 200 "))
        return connection
    }

    @Test func `a feed beyond the maximum is refused until another one has ended`() async throws {
        try await withServer({ $0.maxFeeds = 2 }) { server, client in
            let waiting = try await openFeed("?wait=60", of: server)
            let endless = try await openFeed(of: server)
            let refused = try await client.feed()
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            #expect(refused["error"]?.textValue?.hasPrefix("Too many change feeds are open") == true)
            // It ends after the first change.
            try await server.put("a", [:], in: "TodoItem")
            await #expect(waiting.readToEnd().contains("data: TodoItem\n"))
            try await #expect(client.feed().status == 200)
            withExtendedLifetime(endless) {}
        }
    }

    @Test func `a feed whose client has ended its side is not open`() async throws {
        try await withServer({ $0.maxFeeds = 1 }) { server, client in
            let feed = try await openFeed(of: server)
            feed.endSending()
            // The feed ends before its response.
            await #expect(feed.readToEnd().hasSuffix("0\r\n\r\n"))
            try await #expect(client.feed().status == 200)
        }
    }

    @Test func `each user can have a number of feeds, and clients without users as many as the server`()
        async throws
    {
        try await withServer({
            $0.authentication = try? Tokens.authentication()
            $0.maxFeedsPerUser = 1
        }) { server, client in
            let (ann, bob) = (try await Tokens.token(of: "ann"), try await Tokens.token(of: "bob"))
            let feeds = [try await openFeed(of: server, token: ann), try await openFeed(of: server)]
            try await #expect(client.feed(token: ann).status == 503)
            try await #expect(client.feed().status == 200)
            try await #expect(client.feed(token: bob).status == 200)
            withExtendedLifetime(feeds) {}
        }
    }

    @Test func `clients without a token have at most half of the feeds of a server with users`() async throws
    {
        try await withServer({
            $0.authentication = try? Tokens.authentication()
            $0.maxFeeds = 4
        }) { server, client in
            let ann = try await Tokens.token(of: "ann")
            let feeds = [try await openFeed(of: server), try await openFeed(of: server)]
            let refused = try await client.feed()
            #expect(refused.status == 503)
            #expect(refused["error"]?.textValue?.contains("2 without a token") == true)
            try await #expect(client.feed(token: ann).status == 200)
            withExtendedLifetime(feeds) {}
        }
    }

    @Test func `a feed of which only the head is sent is not open`() async throws {
        try await withServer({ $0.maxFeeds = 1 }) { server, client in
            let head = await (try request("HEAD", to: server)).readToEnd()
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            // A body would be taken for the beginning of the next response.
            #expect(head.hasSuffix("\r\n\r\n") && !head.contains("chunked"))
            try await #expect(client.feed().status == 200)
        }
    }

    @Test(
        arguments: [
            { $0.maxFeeds = 0 }, { $0.maxFeedsPerUser = 0 },
        ] as [@Sendable (inout TableServer.Configuration) -> Void])
    func `a server without any feed is an invalid configuration`(
        _ adjust: @Sendable (inout TableServer.Configuration) -> Void
    ) async throws {
        let error = await #expect(throws: TableServerError.self) { try await withServer(adjust) { _, _ in } }
        #expect(error?.code == .configuration)
    }
}

extension TestClient {
    /// Requests a feed that ends at once.
    fileprivate func feed(token: String? = nil) async throws -> Reply {
        var headers = ["Accept": "text/event-stream"]
        headers["X-ZUMO-AUTH"] = token
        return try await send("GET", "/tables/TodoItem/changes?wait=0", headers: headers)
    }
}
