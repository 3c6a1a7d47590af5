// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport
import Testing

@Suite
struct RemoteURLSessionTransportTests {
    @Test func `method, path, headers and body arrive as they were given`() async throws {
        try await withRawServer { _ in
            [.answer("200 OK", headers: ["ETag: \"a\""], body: "hello")]
        } _: {
            server, transport in
            let url = try #require(URL(string: "\(server.url)/a%2Fb/c?d=%26%20%27%2B"))
            var request = HTTPTransportRequest(HTTPRequest(method: .patch, url: url))
            request.head.headerFields[.ifMatch] = "\"a\\\"b\""
            request.head.headerFields[.zumoAuth] = "token"
            request.body = Data("{}".utf8)
            let response = try await transport.send(request)
            #expect(response.head.status.code == 200)
            #expect(response.head.headerFields[.eTag] == "\"a\"")
            #expect(response.body == Data("hello".utf8))
            let seen = try #require(server.requests.first)
            #expect(seen.lines[0] == "PATCH /a%2Fb/c?d=%26%20%27%2B HTTP/1.1")
            #expect(seen.header("If-Match") == "\"a\\\"b\"")
            #expect(seen.header("X-ZUMO-AUTH") == "token")
            #expect(seen.header("Cookie") == nil)
            #expect(seen.body == Array("{}".utf8))
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .delete, .get])
    func `without a body there is no content type`(method: HTTPRequest.Method) async throws {
        try await withRawServer { _ in
            [.answer("204 No Content")]
        } _: { server, transport in
            let response = try await transport.send(
                HTTPTransportRequest(HTTPRequest(method: method, url: server.url)))
            #expect(response.head.status.code == 204)
            #expect(response.body.isEmpty)
            let seen = try #require(server.requests.first)
            #expect(seen.header("Content-Type") == nil)
            #expect(seen.body.isEmpty)
        }
    }

    @Test func `connections are used again`() async throws {
        try await withRawServer { _ in
            [.answer("200 OK", body: "x"), .keepOpen]
        } _: { server, transport in
            for _ in 0..<5 {
                _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            // The second request may begin before the first connection is back in the pool.
            #expect(Set(server.requests.map(\.connection)).count <= 2)
        }
    }

    @Test func `cookies are neither kept nor sent`() async throws {
        try await withRawServer { _ in
            [.answer("200 OK", headers: ["Set-Cookie: a=b; Path=/"])]
        } _: {
            server, transport in
            for _ in 0..<2 {
                _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.header("Cookie") == nil })
        }
    }

    @Test func `answers are not cached`() async throws {
        try await withRawServer { _ in
            [
                .answer(
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
    func `every status is an answer`(status: Int) async throws {
        try await withRawServer { _ in
            [.answer("\(status) X", headers: ["WWW-Authenticate: Basic realm=\"x\""], body: "why")]
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
    func `an answer that is cut is a failure of the network that may be retried`(bytes: String) async throws {
        try await withRawServer { _ in
            [.send(bytes)]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(method: .post, url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.mayRetry == true)
        }
    }

    @Test func `a body shorter than announced is not complete, where its length can be known`() {
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

    @Test func `a body that ends with the connection is taken as it is`() async throws {
        try await withRawServer { _ in
            [.send("HTTP/1.1 200 OK\r\n\r\n{\"id\":")]
        } _: { server, transport in
            let response = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(response.head.status.code == 200)
            #expect(response.body == Data("{\"id\":".utf8))
        }
    }

    @Test func `a refused connection is a failure of the network`() async throws {
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
