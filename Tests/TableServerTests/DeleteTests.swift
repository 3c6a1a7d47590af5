// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

@Suite(.onEachStorage)
struct DeleteTests {
    @Test func `a soft delete leaves a tombstone with a new version`() async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            server.clock.advance(by: .milliseconds(1))
            let reply = try await client.delete("a", ifMatch: "\"MQ==\"")
            #expect(reply.status == 200)
            #expect(reply["deleted"] == true)
            #expect(reply["text"] == "Milk")
            #expect(reply["updatedAt"] == "2024-05-30T12:00:00.001Z")
            #expect(reply.etag == "\"Mg==\"")

            #expect(try await client.list("TodoItem").ids == [])
            #expect(try await client.get("/tables/TodoItem/a").status == 404)
            #expect(try await client.get("/tables/TodoItem/a?__includeDeleted=true").status == 404)
        }
    }

    @Test(arguments: ["true", "false", "0"])
    func `any value of __includeDeleted except an empty one includes tombstones`(_ value: String) async throws
    {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a"])
            _ = try await client.delete("a")
            let reply = try await client.list("TodoItem", [("__includeDeleted", value)])
            #expect(reply.items.map { $0["deleted"] } == [true])
            #expect(try await client.list("TodoItem", [("__includeDeleted", "")]).items.isEmpty)
        }
    }

    @Test func `a delete of a tombstone is 409, or 412 with any precondition`() async throws {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a"])
            _ = try await client.delete("a")
            let plain = try await client.delete("a")
            #expect(plain.status == 409)
            #expect(plain["deleted"] == true)
            #expect(plain.etag == "\"Mg==\"")
            for ifMatch in ["\"MQ==\"", "\"Mg==\""] {
                let reply = try await client.delete("a", ifMatch: ifMatch)
                #expect(reply.status == 412)
                #expect(reply["deleted"] == true)
            }
        }
    }

    @Test func `an update of a tombstone succeeds and does not undelete it`() async throws {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            _ = try await client.delete("a")
            let reply = try await client.patch("a", ["text": "Tea"], ifMatch: "\"Mg==\"")
            #expect(reply.status == 200)
            #expect(reply["text"] == "Tea")
            #expect(reply["deleted"] == true)
            #expect(try await client.patch("a", ["text": "Tea"], ifMatch: "\"MQ==\"").status == 412)
        }
    }

    @Test func `an insert with the id of a tombstone is 409 with the request's item`() async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            _ = try await client.delete("a")
            let reply = try await client.insert(["id": "a", "text": "Tea"])
            #expect(reply.status == 409)
            #expect(reply.json == ["id": "a", "text": "Tea"])
            #expect(try server.row("a", in: "TodoItem")?.deleted == true)
        }
    }

    @Test func `an undelete returns 201 for tombstones and for other rows`() async throws {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            _ = try await client.delete("a")
            let reply = try await client.send(
                "POST", "/tables/TodoItem/a", headers: ["If-Match": "\"Mg==\""])
            #expect(reply.status == 201)
            #expect(reply["deleted"] == false)
            #expect(reply["text"] == "Milk")
            #expect(try await client.list("TodoItem").ids == ["a"])
            #expect(try await client.send("POST", "/tables/TodoItem/a").status == 201)
        }
    }

    @Test(arguments: [false, true])
    func `a hard delete removes the row, and its versions start again only on request`(_ restarts: Bool)
        async throws
    {
        try await withServer({ $0.restartsVersions = restarts }) { server, client in
            _ = try await client.insert(["id": "a", "text": "Milk"], in: "Other")
            _ = try await client.patch("a", ["text": "Tea"], in: "Other")
            let reply = try await client.delete("a", in: "Other")
            #expect(reply.status == 200)
            #expect(reply["text"] == "Tea")
            #expect(reply["deleted"] == false)
            #expect(try await client.delete("a", in: "Other").status == 404)
            #expect(try await client.list("Other", [("__includeDeleted", "true")]).items.isEmpty)
            let version = try await client.insert(["id": "a"], in: "Other")["version"]
            #expect(version == (restarts ? "MQ==" : "Mw=="))
        }
    }
}
