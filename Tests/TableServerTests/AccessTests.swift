// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Permissions of tables.
@Suite(.onEachStorage)
struct AccessTests {
    private static let operations: [(method: String, path: String, body: ItemValue?, version: String)] = [
        ("GET", "", nil, "2.0.0"), ("GET", "/a", nil, "2.0.0"), ("POST", "", ["id": "b"], "2.0.0"),
        ("POST", "/a", nil, "2.0.0"), ("PATCH", "/a", ["n": 1], "2.0.0"),
        ("PUT", "/a", ["id": "a"], "3.0.0"), ("DELETE", "/a", nil, "2.0.0"), ("GET", "/nosuch", nil, "2.0.0"),
        ("DELETE", "/nosuch", nil, "2.0.0"),
    ]

    @Test(arguments: TableServer.Permission.allCases)
    func `each operation requires its permission, before it reads a row`(_ permission: TableServer.Permission)
        async throws
    {
        let (user, admin) = (try await Tokens.token(of: "u"), try await Tokens.token(of: "v", role: "admin"))
        for (method, path, body, version) in Self.operations {
            for (token, isAllowed) in [
                (nil, permission == .anonymous), (user, permission != .admin), (admin, true),
            ] {
                try await withServer({
                    $0.tables = [.init("TodoItem", permissions: .init(permission))]
                    $0.authentication = try? Tokens.authentication()
                }) { server, client in
                    try await server.put("a", [:], in: "TodoItem")
                    var headers: [String: String] = [:]
                    headers["X-ZUMO-AUTH"] = token
                    let reply = try await client.send(
                        method, "/tables/TodoItem\(path)", body, headers: headers, apiVersion: version)
                    let refusal = token == nil ? 401 : 403
                    if isAllowed { #expect(![401, 403].contains(reply.status)) }
                    if !isAllowed { #expect(reply.status == refusal) }
                    if !isAllowed { try #expect(server.rows(in: "TodoItem").map(\.version) == ["MQ=="]) }
                }
            }
        }
    }

    @Test func `operations of one table can require different permissions`() async throws {
        try await withServer({
            $0.tables = [
                .init(
                    "TodoItem",
                    permissions: .init(
                        read: .anonymous, insert: .authenticated, update: .authenticated, delete: .admin))
            ]
            $0.authentication = try? Tokens.authentication()
        }) { _, client in
            let headers = ["X-ZUMO-AUTH": try await Tokens.token(of: "u")]
            try await #expect(client.insert(["id": "a"]).status == 401)
            try await #expect(
                client.send("POST", "/tables/TodoItem", ["id": "a"], headers: headers).status == 201)
            try await #expect(client.list("TodoItem").ids == ["a"])
            try await #expect(client.send("DELETE", "/tables/TodoItem/a", headers: headers).status == 403)
        }
    }

    @Test(
        arguments: [
            { $0.authentication = nil },
            { $0.tables = [.init("TodoItem", permissions: .init(.anonymous), isPerUser: true)] },
        ] as [@Sendable (inout TableServer.Configuration) -> Void])
    func `permissions that need tokens need keys, and tables of users need users`(
        _ change: @Sendable (inout TableServer.Configuration) -> Void
    ) async throws {
        let error = await #expect(throws: TableServerError.self) {
            try await withServer({
                $0.tables = [.init("TodoItem", permissions: .init(.authenticated))]
                $0.authentication = try? Tokens.authentication()
                change(&$0)
            }) { _, _ in }
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("TodoItem") == true)
    }

    /// Everyone may write, and nobody but administrators may read.
    private static func permitWritesOnly(_ configuration: inout TableServer.Configuration) {
        configuration.tables = [
            .init(
                "TodoItem",
                permissions: .init(
                    read: .admin, insert: .anonymous, update: .anonymous, delete: .anonymous))
        ]
        configuration.authentication = try? Tokens.authentication()
        configuration.insertConflictBody = .row
    }

    @Test func `a caller who may not read gets no field of a row that it has not sent`() async throws {
        try await withServer(Self.permitWritesOnly) { server, client in
            try await server.put("a", ["secret": "x", "text": "one"], in: "TodoItem")
            let path = "/tables/TodoItem/a"
            let replies = [
                try await client.insert(["id": "a"]),
                try await client.send("POST", "/tables/TodoItem", ["id": "a"], apiVersion: "3.0.0"),
                try await client.patch("a", ["text": "two"], ifMatch: "\"other\""),
                try await client.send(
                    "PUT", path, ["id": "a"], headers: ["If-Match": "\"o\""], apiVersion: "3.0.0"),
                try await client.delete("a", ifMatch: "\"other\""),
                try await client.patch("a", ["text": "two"]),
                try await client.delete("a"),
                try await client.delete("a"),
                try await client.send("POST", path),
            ]
            #expect(replies.map(\.status) == [409, 409, 412, 412, 412, 200, 200, 409, 201])
            #expect(!replies.contains { $0.text.contains("secret") })
            #expect(replies[5]["text"] == "two" && replies[5]["version"] != nil)
            #expect(try server.row("a", in: "TodoItem")?.fields["secret"] == "x")
        }
    }

    /// The first responses may be lost.
    @Test func `a caller who may not read sees that a repeated insert or delete is done`() async throws {
        try await withServer(Self.permitWritesOnly) { _, client in
            let row: ItemValue = ["id": "a", "text": "one", "done": .null]
            _ = try await client.insert(row)
            let repeated = try await client.insert(row)
            #expect(repeated.status == 409)
            #expect(repeated["text"] == "one" && repeated["version"] != nil)
            // One value of a row is no proof, and must not be confirmed.
            _ = try await client.insert(["id": "b", "text": "one", "secret": "x"])
            let guess = try await client.insert(["id": "b", "secret": "x"])
            #expect(guess.status == 409 && guess["version"] == nil)
            _ = try await client.delete("a")
            let deleted = try await client.delete("a")
            #expect(deleted.status == 409)
            #expect(deleted["deleted"] == true && deleted["text"] == nil)
        }
    }

    @Test func `requests with an invalid token count for their address`() async throws {
        try await withServer({
            ($0.maxRequestsPerSecond, $0.clock) = (2, .standing(at: .noon))
            $0.authentication = try? Tokens.authentication()
        }) { _, client in
            for status in [401, 401, 429] {
                let reply = try await client.send(
                    "GET", "/tables/TodoItem", headers: ["X-ZUMO-AUTH": "invalid"])
                #expect(reply.status == status)
            }
            let headers = ["X-ZUMO-AUTH": try await Tokens.token(of: "ann")]
            try await #expect(client.send("GET", "/tables/TodoItem", headers: headers).status == 200)
        }
    }
}
