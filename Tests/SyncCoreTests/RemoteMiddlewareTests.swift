// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import Testing

struct RemoteMiddlewareTests {
    private struct Tag: HTTPMiddleware {
        let name: String

        func intercept(
            _ request: HTTPTransportRequest,
            next: @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse
        ) async throws -> HTTPTransportResponse {
            var request = request
            request.headers.append("X-Tag", name)
            var response = try await next(request)
            response.headers.append("X-Tag", name)
            return response
        }
    }

    private struct Retry: HTTPMiddleware {
        func intercept(
            _ request: HTTPTransportRequest,
            next: @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse
        ) async throws -> HTTPTransportResponse {
            let response = try await next(request)
            return response.status == 503 ? try await next(request) : response
        }
    }

    @Test func `the first sees requests first and answers last`() async throws {
        let transport = RemoteScriptedTransport(200)
        let url = try #require(URL(string: "https://example.com"))
        let response = try await transport.intercepted(by: Tag(name: "a"), Tag(name: "b"))
            .send(HTTPTransportRequest(method: "GET", url: url))
        #expect(transport.requests.first?.headers["X-Tag"] == "a, b")
        #expect(response.headers["X-Tag"] == "b, a")
    }

    @Test func `middleware may send again`() async throws {
        let failures = Mutex(1)
        let transport = RemoteScriptedTransport { _ in
            let fails = failures.withLock { failures in
                defer { failures -= 1 }
                return failures > 0
            }
            return HTTPTransportResponse(status: fails ? 503 : 200, body: Data(#"{"id":"a"}"#.utf8))
        }
        let client = try SyncClient.scripted(transport.intercepted(by: Retry()))
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(transport.requests.count == 2)
    }

    @Test func `a header that middleware spoils is refused before it is sent`() async throws {
        try await withRawServer { _ in
            [.answer("200 OK", body: "{}")]
        } _: { server, transport in
            let client = SyncClient(
                url: server.url, transport: transport.intercepted(by: Tag(name: "a\r\nX-Evil: 1")))
            let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
            #expect(error?.code == .invalidRequest)
            #expect(server.requests.isEmpty)
        }
    }
}
