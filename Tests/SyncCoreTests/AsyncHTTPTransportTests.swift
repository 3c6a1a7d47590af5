// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import HTTPTypes
import SyncCore
import Testing

/// Tests of this transport alone; `HTTPTransportTests` run with each transport.
@Suite
struct AsyncHTTPTransportTests {
    private static func withServer<Value>(
        _ respond: @escaping @Sendable (RawHTTPServer.Request) -> [RawHTTPServer.Step],
        _ body: (RawHTTPServer, AsyncHTTPTransport) async throws -> Value
    ) async throws -> Value {
        let server = try RawHTTPServer(respond: respond)
        defer { server.stop() }
        return try await body(server, AsyncHTTPTransport())
    }

    @Test func `a response head that is cut off is a network failure and does not crash the process`()
        async throws
    {
        try await Self.withServer({ _ in [.send("HTTP/1.1 200 OK\r\nbroken")] }) { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(method: .post, url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.mayRetry == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a request accepts compressed responses`() async throws {
        try await Self.withServer({ _ in [.response("200 OK")] }) { server, transport in
            _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(server.requests.first?.header("Accept-Encoding") == "gzip, deflate")
        }
    }

    @Test(arguments: [
        "204 No Content\r\n", "304 Not Modified\r\n", "200 OK\r\nContent-Length: 0\r\n",
        "503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 7\r\n",
        "200 OK\r\nTransfer-Encoding: chunked\r\n",
    ])
    func `an empty response may name a compression`(head: String) async throws {
        let lastChunk = head.contains("chunked") ? "0\r\n\r\n" : ""
        let response = "HTTP/1.1 \(head)Content-Encoding: gzip\r\n\r\n\(lastChunk)"
        try await Self.withServer({ _ in [.send(response)] }) { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(method: .delete, url: server.url))
            let received = try await transport.send(request)
            #expect(head.hasPrefix("\(received.head.status.code)"))
            #expect(received.body.isEmpty)
        }
    }
}
