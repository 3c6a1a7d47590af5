// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import Testing

struct HTTPMiddlewareTests {
    private struct TaggingMiddleware: HTTPMiddleware {
        let name: String

        func intercept(
            _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
        ) async throws -> HTTPTransportResponse {
            var request = request
            request.head.headerFields.append(HTTPField(name: .tag, value: name))
            var response = try await next(request)
            response.head.headerFields.append(HTTPField(name: .tag, value: name))
            return response
        }
    }

    private struct RetryMiddleware: HTTPMiddleware {
        func intercept(
            _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
        ) async throws -> HTTPTransportResponse {
            let response = try await next(request)
            return response.head.status.code == 503 ? try await next(request) : response
        }
    }

    @Test func `the first middleware sees requests first and responses last`() async throws {
        let transport = ScriptedTransport(200)
        let url = try #require(URL(string: "https://example.com"))
        let response = try await transport.intercepted(
            by: TaggingMiddleware(name: "a"), TaggingMiddleware(name: "b")
        )
        .send(HTTPTransportRequest(HTTPRequest(url: url)))
        #expect(transport.requests.first?.head.headerFields[.tag] == "a, b")
        #expect(response.head.headerFields[.tag] == "b, a")
    }

    @Test func `middleware may send a request again`() async throws {
        let remainingFailures = Mutex(1)
        let transport = ScriptedTransport { _ in
            let fails = remainingFailures.withLock { remaining in
                defer { remaining -= 1 }
                return remaining > 0
            }
            return HTTPTransportResponse(status: fails ? 503 : 200, body: Data(#"{"id":"a"}"#.utf8))
        }
        let client = try SyncClient.scripted(transport.intercepted(by: RetryMiddleware()))
        #expect(try await client.table("T").read(id: "a").id == "a")
        #expect(transport.requests.count == 2)
    }

    @Test func `an invalid header set by middleware is refused before the request is sent`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK", body: "{}")]
        } _: { server, transport in
            let client = SyncClient(
                url: server.url, transport: transport.intercepted(by: TaggingMiddleware(name: "é")))
            let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
            #expect(error?.code == .invalidConfiguration)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a line break in a header value set by middleware adds no header`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK", body: #"{"id":"a"}"#)]
        } _: { server, transport in
            let middleware = TaggingMiddleware(name: "a\r\nX-Evil: 1")
            let client = SyncClient(url: server.url, transport: transport.intercepted(by: middleware))
            _ = try await client.table("T").read(id: "a")
            let request = try #require(server.requests.first)
            #expect(request.header("X-Tag") == "a  X-Evil: 1")
            #expect(request.header("X-Evil") == nil)
        }
    }

    @Test func `middleware can be called directly, with a transport as next`() async throws {
        let transport = ScriptedTransport(200)
        let url = try #require(URL(string: "https://example.com"))
        let request = HTTPTransportRequest(HTTPRequest(url: url))
        _ = try await TaggingMiddleware(name: "a").intercept(request, next: HTTPMiddlewareNext(transport))
        #expect(transport.requests.map { $0.head.headerFields[.tag] } == ["a"])
    }
}

extension HTTPField.Name {
    fileprivate static let tag = Self("X-Tag")!
}
