// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import SyncCore
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPTransportTests {
    @Test func `method, path, headers and body arrive as they were given`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.answer("200 OK", headers: ["ETag: \"a\""], body: "hello")]
        } _: { server, transport in
            var request = HTTPTransportRequest(
                method: "PATCH", url: try #require(URL(string: "\(server.url)/a%2Fb/c?d=%26%20%27%2B")))
            request.headers["If-Match"] = "\"a\\\"b\""
            request.body = Data("{}".utf8)
            let response = try await transport.send(request)
            #expect(response.status == 200)
            #expect(response.headers["etag"] == "\"a\"")
            #expect(response.body == Data("hello".utf8))
            let seen = try #require(server.requests.first)
            #expect(seen.lines[0] == "PATCH /a%2Fb/c?d=%26%20%27%2B HTTP/1.1")
            #expect(seen.header("If-Match") == "\"a\\\"b\"")
            #expect(seen.body == Array("{}".utf8))
        }
    }

    @Test func `connections are used again, and cookies are neither kept nor sent`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.answer("200 OK", headers: ["Set-Cookie: a=b; Path=/"], body: "x"), .keepOpen]
        } _: { server, transport in
            for _ in 0..<5 {
                _ = try await transport.send(HTTPTransportRequest(method: "GET", url: server.url))
            }
            #expect(server.requests.map(\.connection) == [1, 1, 1, 1, 1])
            #expect(server.requests.allSatisfy { $0.header("Cookie") == nil })
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "HTTP/1.1 200 OK\r\nbroken",
    ])
    func `an answer that is cut is a failure of the network that may be retried`(bytes: String) async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.send(bytes)]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(method: "POST", url: server.url))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.mayRetry == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a body of the greatest length is accepted and one byte more is not`() async throws {
        try await withRawServer(over: AsyncHTTPTransport(maxBodyBytes: 10)) { request in
            [
                .answer(
                    "200 OK",
                    body: String(repeating: "x", count: request.lines[0].contains("/long") ? 11 : 10))
            ]
        } _: { server, transport in
            let short = try await transport.send(HTTPTransportRequest(method: "GET", url: server.url))
            #expect(short.body.count == 10)
            await #expect(throws: HTTPBodyLimitExceeded(status: 200, limit: 10)) {
                try await transport.send(
                    HTTPTransportRequest(method: "GET", url: server.url.appending(path: "long")))
            }
        }
    }

    @Test func `compressed answers are unpacked, and the limit counts what comes out`() async throws {
        // A thousand times "x", packed by gzip.
        let packed: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0xa8, 0x18, 0x05, 0xa3, 0x60,
            0x14, 0x0c, 0x77, 0x00, 0x00, 0xe6, 0xc9, 0x41, 0x3b, 0xe8, 0x03, 0x00, 0x00,
        ]
        for limit in [1000, 999] {
            try await withRawServer(over: AsyncHTTPTransport(maxBodyBytes: limit)) { _ in
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
                return [.sendBytes(Array(head.utf8) + packed)]
            } _: { server, transport in
                let request = HTTPTransportRequest(method: "GET", url: server.url)
                if limit == 1000 {
                    let response = try await transport.send(request)
                    #expect(response.body == Data(repeating: 0x78, count: 1000))
                    #expect(server.requests.first?.header("Accept-Encoding") == "gzip, deflate")
                } else {
                    await #expect(throws: HTTPBodyLimitExceeded.self) { try await transport.send(request) }
                }
            }
        }
    }

    @Test func `a server that stays silent is given up after the idle timeout`() async throws {
        try await withRawServer(over: AsyncHTTPTransport(idleTimeout: .milliseconds(100))) { _ in
            [.waitForHangUp]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(method: "GET", url: server.url))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.message.contains("in time") == true)
        }
    }

    @Test func `cancelling a request ends it at once and hangs up`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.waitForHangUp]
        } _: { server, transport in
            let request = HTTPTransportRequest(method: "GET", url: server.url)
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await server.wait(for: .hangUp)
        }
    }

    @Test func `a GET follows redirects within the origin, and a circle of them ends`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { request in
            request.lines[0].hasPrefix("GET /new")
                ? [.answer("200 OK", body: "here")]
                : [
                    .answer(
                        "307 X", headers: ["Location: \(request.lines[0].contains("/old") ? "/new" : "/x")"])
                ]
        } _: { server, transport in
            var request = HTTPTransportRequest(method: "GET", url: server.url.appending(path: "old"))
            request.headers["X-ZUMO-AUTH"] = "token"
            let response = try await transport.send(request)
            #expect(response.body == Data("here".utf8))
            #expect(server.requests.last?.header("X-ZUMO-AUTH") == "token")
            request.url = server.url
            let circle = try await transport.send(request)
            #expect(circle.status == 307)
            #expect(server.requests.count == 8)
        }
    }

    @Test(arguments: ["POST", "PATCH", "DELETE", "GET"])
    func `a redirect of a write, or to another origin, is the answer`(method: String) async throws {
        let other = try RemoteRawServer { _ in [.answer("200 OK")] }
        defer { other.stop() }
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.answer("302 X", headers: ["Location: \(method == "GET" ? "\(other.url)/x" : "/new")"])]
        } _: { server, transport in
            let response = try await transport.send(HTTPTransportRequest(method: method, url: server.url))
            #expect(response.status == 302)
            #expect(server.requests.count == 1)
            #expect(other.requests.isEmpty)
        }
    }

    @Test func `many requests at once are all answered with their own bodies`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { request in
            [.answer("200 OK", body: request.lines[0]), .keepOpen]
        } _: { server, transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    let url = server.url.appending(path: "\(number)")
                    group.addTask {
                        let response = try await transport.send(
                            HTTPTransportRequest(method: "GET", url: url))
                        #expect(response.body == Data("GET /\(number) HTTP/1.1".utf8))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `closing ends what is under way and refuses what comes later`() async throws {
        try await withRawServer(over: AsyncHTTPTransport()) { _ in
            [.waitForHangUp]
        } _: { server, transport in
            let request = HTTPTransportRequest(method: "GET", url: server.url)
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            transport.close()
            await #expect(throws: SyncError.self) { try await task.value }
            let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
            #expect(error?.message == "The transport was closed.")
        }
    }

    @Test func `plain HTTP to another machine, and headers of the transport's own, are refused`() async throws
    {
        let transport = AsyncHTTPTransport()
        var request = HTTPTransportRequest(
            method: "GET", url: try #require(URL(string: "http://example.com/")))
        var error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        #expect(error?.code == .invalidRequest)
        request.url = try #require(URL(string: "https://example.com/"))
        request.headers["Content-Length"] = "3"
        error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        #expect(error?.code == .invalidRequest)
    }
}
