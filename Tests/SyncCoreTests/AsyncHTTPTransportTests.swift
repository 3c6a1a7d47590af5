// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import HTTPTypes
import SyncCore
import Testing

/// What only this transport does; what all must do is in the tests of URLSession's, which run with each.
@Suite
struct AsyncHTTPTransportTests {
    private static func fromServer<Value>(
        _ answer: @escaping @Sendable (RawHTTPServer.Request) -> [RawHTTPServer.Step],
        _ body: (RawHTTPServer, AsyncHTTPTransport) async throws -> Value
    ) async throws -> Value {
        let server = try RawHTTPServer(answer: answer)
        defer { server.stop() }
        return try await body(server, AsyncHTTPTransport())
    }

    @Test func `a head that is cut is a failure of the network, and ends no process`() async throws {
        try await Self.fromServer({ _ in [.send("HTTP/1.1 200 OK\r\nbroken")] }) { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(method: .post, url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.mayRetry == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `compressed answers are asked for`() async throws {
        try await Self.fromServer({ _ in [.answer("200 OK")] }) { server, transport in
            _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(server.requests.first?.header("Accept-Encoding") == "gzip, deflate")
        }
    }
}
