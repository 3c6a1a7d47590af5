// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Writes that a web page of another site sends from a browser.
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
        ["X-ZUMO-APPLICATION": "key"],
    ])
    func `a write for which a browser asks a server first is accepted`(_ headers: [String: String])
        async throws
    {
        try await withServer { _, client in
            try await #expect(post(client, origin: "https://app.example", headers) == 201)
        }
    }

    @Test func `a write of another program, or of a page of this server, is accepted`() async throws {
        try await withServer { server, client in
            try await #expect(post(client, origin: nil) == 201)
            try await #expect(post(client, "/a", origin: server.url.absoluteString) == 201)
        }
    }
}
