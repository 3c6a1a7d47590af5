// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Requests that a web page of another site sends from a browser.
@Suite(.onEachStorage)
struct CrossSiteTests {
    private func post(
        _ client: TestClient, _ path: String = "", origin: String?, _ headers: [String: String] = [:]
    ) async throws -> Int {
        var headers = ["Content-Type": "text/plain"].merging(headers) { $1 }
        headers["Origin"] = origin
        return try await client.send(
            "POST", "/tables/TodoItem\(path)?ZUMO-API-VERSION=2.0.0", data: Data("{\"id\":\"a\"}".utf8),
            headers: headers, apiVersion: nil
        ).status
    }

    @Test func `a write that a page of another site can send without a question is 403`() async throws {
        try await withServer { server, client in
            for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
                try await #expect(post(client, origin: origin) == 403)
                try await #expect(post(client, "/a", origin: origin) == 403)
            }
            #expect(try server.rows(in: "TodoItem").isEmpty)
        }
    }

    @Test(arguments: [
        ["ZUMO-API-VERSION": "2.0.0"], ["Content-Type": "application/json; charset=utf-8"],
        ["X-ZUMO-APPLICATION": "key"], ["Authorization": "bearer token"],
    ])
    func `a write for which a browser asks a server first is accepted`(_ headers: [String: String])
        async throws
    {
        try await withServer { _, client in
            try await #expect(post(client, origin: "https://app.example", headers) == 201)
        }
    }

    @Test(arguments: ["Basic dTpw", "Negotiate token", "Bearer2 token"])
    func `a write with credentials that a browser adds by itself is 403`(_ credentials: String) async throws {
        try await withServer { _, client in
            let headers = ["Authorization": credentials]
            try await #expect(post(client, origin: "https://evil.example", headers) == 403)
        }
    }

    @Test func `a write of another program, or of a page of this server, is accepted`() async throws {
        try await withServer { server, client in
            try await #expect(post(client, origin: nil) == 201)
            try await #expect(post(client, "/a", origin: server.url.absoluteString) == 201)
        }
    }

    // MARK: Names that resolve to this machine

    /// Sends a request with a chosen `Host`, and returns its status.
    private func status(
        _ server: TableServer, _ request: String, host: String, _ headers: [String]
    ) async throws -> Int {
        let connection = try RawConnection(port: try #require(server.url.port))
        let lines = ["\(request) HTTP/1.1", "Host: \(host)", "ZUMO-API-VERSION: 2.0.0"] + headers
        try connection.send(
            (lines + ["Content-Length: 0", "Connection: close", "", ""]).joined(separator: "\r\n"))
        let response = await connection.readToEnd()
        return try #require(Int(response.dropFirst("HTTP/1.1 ".count).prefix(3)))
    }

    private static let browserHeaders = [
        "Origin: http://evil.example", "Sec-Fetch-Site: same-origin",
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
    ]

    @Test(arguments: browserHeaders)
    func `a page whose site's name resolves to this machine can neither read nor write`(_ header: String)
        async throws
    {
        try await withServer({ $0.showsMetrics = true }) { server, _ in
            try await server.put("a", [:], in: "TodoItem")
            for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.evil"] {
                for request in ["GET /tables/TodoItem", "DELETE /tables/TodoItem/a", "GET /metrics"] {
                    // A page can set the second header.
                    for headers in [[header], [header, "X-Forwarded-For: 192.0.2.1"]] {
                        try await #expect(status(server, request, host: host, headers) == 403)
                    }
                }
            }
            try #expect(server.row("a", in: "TodoItem")?.deleted == false)
        }
    }

    @Test(arguments: ["localhost", "LocalHost:80", "127.0.0.1", "127.1.2.3:8080", "[::1]", "[::1]:80"])
    func `a page that asks for this machine by its own name or address is answered`(_ host: String)
        async throws
    {
        try await withServer { server, _ in
            for header in Self.browserHeaders {
                try await #expect(status(server, "GET /tables/TodoItem", host: host, [header]) == 200)
            }
        }
    }

    @Test func `a server whose host is another spelling of an address of this machine has only that name`()
        async throws
    {
        try await withServer({ $0.host = "127.1" }) { server, _ in
            let list = "GET /tables/TodoItem"
            for header in Self.browserHeaders {
                try await #expect(status(server, list, host: "evil.example", [header]) == 403)
                try await #expect(status(server, list, host: "127.1:80", [header]) == 200)
            }
        }
    }

    @Test func `an app, and a page behind a proxy that adds Via, may use another name`() async throws {
        try await withServer { server, _ in
            let list = "GET /tables/TodoItem"
            for headers in [[], ["User-Agent: curl/8.5.0"], Self.browserHeaders + ["Via: 1.1 proxy"]] {
                try await #expect(status(server, list, host: "tables.example", headers) == 200)
            }
        }
    }

    @Test func `a server that other machines reach has any name`() async throws {
        try await withServer({ $0.host = "0.0.0.0" }) { server, _ in
            let list = "GET /tables/TodoItem"
            for header in Self.browserHeaders {
                try await #expect(status(server, list, host: "tables.example", [header]) == 200)
            }
        }
    }
}
