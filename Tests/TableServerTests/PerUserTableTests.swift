// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A table in which each user sees only their own rows. No response depends on the rows of another user.
@Suite(.onEachStorage)
struct PerUserTableTests {
    /// Sends requests of a user.
    private struct User {
        let client: TestClient
        let token: String

        func send(
            _ method: String, _ path: String, _ body: ItemValue? = nil, ifMatch: String? = nil,
            version: String = "2.0.0"
        ) async throws -> TestClient.Reply {
            var headers = ["X-ZUMO-AUTH": token]
            headers["If-Match"] = ifMatch
            return try await client.send(
                method, "/tables/Note\(path)", body, headers: headers, apiVersion: version)
        }

        func list(_ query: String, version: String = "2.0.0") async throws -> TestClient.Reply {
            try await send("GET", "?" + query.replacing(" ", with: "%20"), version: version)
        }
    }

    private func withUsers(
        softDelete: Bool = true, _ body: (TableServer, _ ann: User, _ bob: User) async throws -> Void
    ) async throws {
        try await withServer({
            $0.tables = [
                .init(
                    "Note", softDelete: softDelete, permissions: .init(.authenticated), isPerUser: true)
            ]
            $0.pageSize = 2
            $0.insertConflictBody = .row
            $0.authentication = try? Tokens.authentication()
        }) { server, client in
            try await body(
                server, User(client: client, token: try await Tokens.token(of: "ann")),
                User(client: client, token: try await Tokens.token(of: "bob", role: "admin")))
        }
    }

    @Test func `a row belongs to the user who inserted it, also for an administrator`() async throws {
        try await withUsers { server, ann, bob in
            try await #expect(ann.send("POST", "", ["id": "a", "text": "Ann's"]).status == 201)
            try await #expect(ann.send("GET", "/a")["text"] == "Ann's")
            try await #expect(bob.send("GET", "/a").status == 404)
            try #expect(server.row("a", in: "Note", of: "ann")?.fields == ["text": "Ann's"])
            try #expect(server.row("a", in: "Note", of: "bob") == nil)
            try await server.put("b", ["text": "Bob's"], in: "Note", of: "bob")
            try await #expect(bob.send("GET", "/b")["text"] == "Bob's")
            try #expect(server.rows(in: "Note").map(\.id) == ["a", "b"])
            try #expect(server.rows(in: "Note", of: "bob").map(\.id) == ["b"])
        }
    }

    @Test(arguments: ["2.0.0", "3.0.0"])
    func `requests for a row of another user are those for a row that does not exist`(_ version: String)
        async throws
    {
        try await withUsers { server, ann, bob in
            try await server.put("a", ["text": "Ann's"], in: "Note", of: "ann")
            try await server.put("deleted", [:], in: "Note", of: "ann")
            try await server.remove("deleted", in: "Note", of: "ann")
            for id in ["a", "deleted"] {
                for (method, body) in [
                    ("GET", nil), ("DELETE", nil), ("POST", nil), ("PATCH", ["text": "Bob's"]),
                    ("PUT", ["id": .text(id)]),
                ] as [(String, ItemValue?)] {
                    for ifMatch in [nil, "\"MQ==\"", "\"Mg==\"", "\"x\"", "*"] {
                        for query in ["", "?__includedeleted=true"] {
                            let reply = try await bob.send(
                                method, "/\(id)\(query)", body, ifMatch: ifMatch, version: version)
                            let other = body.map { _ in method == "PUT" ? ["id": "nosuch"] : body } ?? nil
                            let missing = try await bob.send(
                                method, "/nosuch\(query)", other, ifMatch: ifMatch, version: version)
                            #expect(reply.status == missing.status)
                            #expect(reply.status == 404)
                            #expect(reply.text.replacing("/\(id)", with: "/nosuch") == missing.text)
                        }
                    }
                }
            }
            try #expect(server.row("a", in: "Note", of: "ann")?.fields == ["text": "Ann's"])
            try #expect(server.row("deleted", in: "Note", of: "ann")?.deleted == true)
        }
    }

    @Test(arguments: ["2.0.0", "3.0.0"])
    func `an insert of an id that another user has is no conflict`(_ version: String) async throws {
        try await withUsers { server, ann, bob in
            try await server.put("a", ["text": "Ann's"], in: "Note", of: "ann")
            let reply = try await bob.send("POST", "", ["id": "a", "text": "Bob's"], version: version)
            #expect(reply.status == 201)
            #expect(reply["version"] == "MQ==")
            let conflict = try await bob.send("POST", "", ["id": "a", "text": "Bob's 2"], version: version)
            #expect(conflict.status == 409)
            #expect(conflict["text"] == "Bob's")
            try await #expect(bob.send("DELETE", "/a", version: version).status < 300)
            try #expect(server.row("a", in: "Note", of: "ann")?.fields == ["text": "Ann's"])
            try #expect(server.row("a", in: "Note", of: "ann")?.deleted == false)
        }
    }

    @Test func `versions do not depend on the rows of another user`() async throws {
        try await withUsers(softDelete: false) { server, ann, bob in
            for n in 0..<5 as Range<Int64> {
                try await server.put("a", ["n": .int(n)], in: "Note", of: "ann")
            }
            try await server.remove("a", in: "Note", of: "ann")
            try await #expect(bob.send("POST", "", ["id": "a"])["version"] == "MQ==")
            try await #expect(ann.send("POST", "", ["id": "a"])["version"] == "Ng==")
        }
    }

    @Test(arguments: [
        "", "$filter=text eq 'Ann''s'", "$filter=not (text eq 'x')", "$filter=1 eq 1 or id eq 'a0'",
        "$filter=id eq 'a0'",
        "$filter=updatedAt ge datetimeoffset'2000-01-01T00:00:00Z'&$orderby=updatedAt,id",
        "$filter=updatedAt gt datetimeoffset'2000-01-01T00:00:00Z' or id gt ''&$orderby=updatedAt,id",
        "$orderby=text", "$orderby=text desc", "$orderby=id", "$orderby=updatedAt desc", "$skip=1",
        "$top=1000",
        "$filter=id gt ''&$orderby=id", "$filter=owner eq 'ann'", "$orderby=owner", "$select=owner,id",
        "$filter=true) or (true", "__includeDeleted=true", "$inlinecount=allpages",
    ])
    func `lists, counts and links contain nothing of another user`(_ query: String) async throws {
        try await withUsers { server, ann, bob in
            let alone = try await bob.list(query)
            for n in 0..<5 { try await server.put("a\(n)", ["text": "Ann's"], in: "Note", of: "ann") }
            try await server.remove("a1", in: "Note", of: "ann")
            let empty = try await bob.list(query)
            #expect(empty.status == alone.status)
            #expect(empty.body == alone.body)
            #expect(empty.headers["link"] == nil)
            for n in 0..<2 { try await server.put("b\(n)", ["text": "Bob's"], in: "Note", of: "bob") }
            let own = try await bob.list(query)
            #expect(!own.text.contains("Ann"))
            #expect(Set(own.ids).isSubset(of: ["b0", "b1"]))
            if query.contains("inlinecount") { #expect(own["count"] == 2) }
            if query.contains("$top") { #expect(own.headers["link"] != nil) }
        }
    }

    @Test func `the next page of dialect v3 does not depend on the rows of another user`() async throws {
        try await withUsers { server, ann, bob in
            for n in 0..<5 { try await server.put("a\(n)", [:], in: "Note", of: "ann") }
            for n in 0..<2 { try await server.put("b\(n)", [:], in: "Note", of: "bob") }
            let list = try await bob.list("$count=true", version: "3.0.0")
            #expect(list["nextLink"] == nil)
            #expect(list["count"] == 2)
            try await #expect(ann.list("$count=true", version: "3.0.0")["nextLink"] != nil)
        }
    }
}
