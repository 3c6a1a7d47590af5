// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport
import Testing

@Suite
struct HTTPTransportTests {
    @Test func `method, path, headers and body are sent unchanged`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK", headers: ["ETag: \"a\""], body: "hello")]
        } _: { server, transport in
            let url = try #require(URL(string: "\(server.url)/a%2Fb/c?d=%26%20%27%2B"))
            var request = HTTPTransportRequest(HTTPRequest(method: .patch, url: url))
            request.head.headerFields[.ifMatch] = "\"a\\\"b\""
            request.head.headerFields[.zumoAuth] = "token"
            request.body = Data("{}".utf8)
            let response = try await transport.send(request)
            #expect(response.head.status.code == 200)
            #expect(response.head.headerFields[.eTag] == "\"a\"")
            #expect(response.body == Data("hello".utf8))
            let received = try #require(server.requests.first)
            #expect(received.lines[0] == "PATCH /a%2Fb/c?d=%26%20%27%2B HTTP/1.1")
            #expect(received.header("If-Match") == "\"a\\\"b\"")
            #expect(received.header("X-ZUMO-AUTH") == "token")
            #expect(received.header("Cookie") == nil)
            #expect(received.body == Array("{}".utf8))
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .delete, .get])
    func `a request without a body has no content type`(method: HTTPRequest.Method) async throws {
        try await withEachTransport { _ in
            [.response("204 No Content")]
        } _: { server, transport in
            let response = try await transport.send(
                HTTPTransportRequest(HTTPRequest(method: method, url: server.url)))
            #expect(response.head.status.code == 204)
            #expect(response.body.isEmpty)
            let received = try #require(server.requests.first)
            #expect(received.header("Content-Type") == nil)
            #expect(received.body.isEmpty)
        }
    }

    @Test func `connections are reused`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK", body: "x"), .keepOpen]
        } _: { server, transport in
            for _ in 0..<5 {
                _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            // The second request may start before the first connection is returned to the pool.
            #expect(Set(server.requests.map(\.connection)).count <= 2)
        }
    }

    @Test func `cookies are neither stored nor sent`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK", headers: ["Set-Cookie: a=b; Path=/"])]
        } _: { server, transport in
            for _ in 0..<2 {
                _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.header("Cookie") == nil })
        }
    }

    @Test func `responses are not cached`() async throws {
        try await withEachTransport { _ in
            [
                .response(
                    "200 OK",
                    headers: ["Cache-Control: public, max-age=3600", "Date: Fri, 31 Dec 2027 23:59:59 GMT"],
                    body: "x")
            ]
        } _: { server, transport in
            for _ in 0..<2 {
                _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.header("If-None-Match") == nil })
        }
    }

    @Test(arguments: [401, 404, 409, 412, 429, 500, 503])
    func `every status is returned as a response`(status: Int) async throws {
        try await withEachTransport { _ in
            [.response("\(status) X", headers: ["WWW-Authenticate: Basic realm=\"x\""], body: "why")]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(method: .delete, url: server.url))
            let response = try await transport.send(request)
            #expect(response.head.status.code == status)
            #expect(response.body == Data("why".utf8))
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
    ])
    func `a response that is cut off is a network failure that may be retried`(bytes: String) async throws {
        try await withEachTransport { _ in
            [.send(bytes)]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(method: .post, url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.mayRetry == true)
        }
    }

    @Test func `a body shorter than its content length is incomplete`() {
        let short = HTTPTransportResponse(
            status: 200, headerFields: [.contentLength: "3"], body: Data("ab".utf8))
        #expect(!short.isComplete(after: "GET"))
        #expect(short.isComplete(after: "HEAD"))
        var response = short
        response.body = Data("abc".utf8)
        #expect(response.isComplete(after: "GET"))
        response = short
        response.head.headerFields[.contentEncoding] = "gzip"
        #expect(response.isComplete(after: "GET"))
        response = short
        response.head.status = 204
        #expect(response.isComplete(after: "DELETE"))
    }

    @Test func `a body without a content length ends when the connection closes`() async throws {
        try await withEachTransport { _ in
            [.send("HTTP/1.1 200 OK\r\n\r\n{\"id\":")]
        } _: { server, transport in
            let response = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(response.head.status.code == 200)
            #expect(response.body == Data("{\"id\":".utf8))
        }
    }

    @Test func `a refused connection is a network failure`() async throws {
        let port = try RefusingPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)"))
        let transport = URLSessionTransport()
        defer { transport.close() }
        let error = await #expect(throws: SyncError.self) {
            try await transport.send(HTTPTransportRequest(HTTPRequest(url: url)))
        }
        #expect(error?.code == .networkUnavailable)
    }
}
