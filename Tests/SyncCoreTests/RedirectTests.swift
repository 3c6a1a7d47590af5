// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

@Suite
struct RedirectTests {
    @Test func `a GET follows a redirect within its origin and keeps all headers`() async throws {
        try await withEachTransport { request in
            request.lines[0].hasPrefix("GET /old")
                ? [.response("307 X", headers: ["Location: /new?a=1"])] : [.response("200 OK", body: "here")]
        } _: { server, transport in
            var request = HTTPTransportRequest(HTTPRequest(url: server.url.appending(path: "old")))
            request.head.headerFields = [
                .zumoAuth: "token", .authorization: "Bearer b", .zumoFeatures: "OL",
            ]
            let response = try await transport.send(request)
            #expect(response.body == Data("here".utf8))
            let followed = try #require(server.requests.last)
            #expect(followed.lines[0] == "GET /new?a=1 HTTP/1.1")
            #expect(followed.header("X-ZUMO-AUTH") == "token")
            #expect(followed.header("Authorization") == "Bearer b")
            #expect(followed.header("X-ZUMO-FEATURES") == "OL")
        }
    }

    @Test(arguments: ["http://127.0.0.1:%/x", "http://localhost:PORT/x", "https://127.0.0.1:PORT/x"])
    func `a redirect to another origin is returned and not followed`(target: String) async throws {
        let other = try RawHTTPServer { _ in [.response("200 OK")] }
        defer { other.stop() }
        try await withEachTransport { request in
            let port = request.header("Host")?.split(separator: ":").last.map(String.init) ?? ""
            let location = target.replacing("%", with: "\(other.port)").replacing("PORT", with: port)
            return [.response("302 X", headers: ["Location: \(location)"], body: "moved")]
        } _: { server, transport in
            var request = HTTPTransportRequest(HTTPRequest(url: server.url))
            request.head.headerFields[.zumoAuth] = "token"
            let response = try await transport.send(request)
            #expect(response.head.status.code == 302)
            #expect(response.body == Data("moved".utf8))
            #expect(server.requests.count == 1)
            #expect(other.requests.isEmpty)
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, .put, .delete], [301, 302, 303, 307, 308])
    func `a write never follows a redirect`(method: HTTPRequest.Method, status: Int) async throws {
        try await withEachTransport { _ in
            [.response("\(status) X", headers: ["Location: /new"])]
        } _: { server, transport in
            var request = HTTPTransportRequest(HTTPRequest(method: method, url: server.url))
            request.body = method == .delete ? nil : Data("{}".utf8)
            let response = try await transport.send(request)
            #expect(response.head.status.code == status)
            #expect(response.head.headerFields[.location] == "/new")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a redirect loop ends after five redirects with the redirect response`() async throws {
        try await withEachTransport { _ in
            [.response("307 X", headers: ["Location: /again"])]
        } _: { server, transport in
            let response = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(response.head.status.code == 307)
            #expect(server.requests.count == 6)
        }
    }
}
