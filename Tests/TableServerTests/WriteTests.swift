// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

@Suite(.onEachStorage)
struct WriteTests {
    @Test func `an insert returns 201 with the stored row and its version`() async throws {
        try await withServer { server, client in
            let reply = try await client.insert(["id": "a", "text": "Milk", "rank": 9_007_199_254_740_993])
            #expect(reply.status == 201)
            #expect(
                reply.json == [
                    "id": "a", "text": "Milk", "rank": 9_007_199_254_740_993, "deleted": false,
                    "createdAt": "2024-05-30T12:00:00.000Z", "updatedAt": "2024-05-30T12:00:00.000Z",
                    "version": "MQ==",
                ])
            #expect(reply.etag == "\"MQ==\"")
            #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
        }
    }

    @Test func `an insert without an id gets a new one`() async throws {
        try await withServer { server, client in
            let first = try await client.insert(["text": "a"])
            let second = try await client.insert(["id": nil, "text": "b"])
            let ids = [first["id"]?.textValue, second["id"]?.textValue].compactMap { $0 }
            #expect(Set(ids).count == 2)
            #expect(try server.rows(in: "TodoItem").map(\.id) == ids)
        }
    }

    @Test func `an insert of an existing id is 409 with the request's item and a weak tag`() async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "text": "first"])
            let reply = try await client.insert(["id": "a", "text": "second"])
            #expect(reply.status == 409)
            #expect(reply.json == ["id": "a", "text": "second"])
            #expect(reply.etag?.hasPrefix("W/\"") == true)
            #expect(try server.row("a", in: "TodoItem")?.fields == ["text": "first"])
        }
    }

    @Test func `an insert of an existing id can be 409 with the server's row`() async throws {
        try await withServer({ $0.insertConflictBody = .row }) { server, client in
            _ = try await client.insert(["id": "a", "text": "first"])
            let reply = try await client.insert(["id": "a", "text": "second"])
            #expect(reply.status == 409)
            #expect(reply["text"] == "first")
            #expect(reply.etag == "\"MQ==\"")
        }
    }

    @Test func `an update merges the sent fields and creates a new version`() async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "text": "Milk", "done": false])
            server.clock.advance(by: .seconds(1))
            let reply = try await client.patch(
                "a", ["id": "a", "done": true, "note": nil], ifMatch: "\"MQ==\"")
            #expect(reply.status == 200)
            #expect(reply["text"] == "Milk")
            #expect(reply["done"] == true)
            #expect(reply["note"] == .null)
            #expect(reply["createdAt"] == "2024-05-30T12:00:00.000Z")
            #expect(reply["updatedAt"] == "2024-05-30T12:00:01.000Z")
            #expect(reply.etag == "\"Mg==\"")
        }
    }

    @Test(arguments: ["\"MA==\"", "*", "W/\"MQ==\"", "\"\""])
    func `a precondition that differs from the version is 412 with the row`(_ ifMatch: String) async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            for reply in [
                try await client.patch("a", ["text": "Tea"], ifMatch: ifMatch),
                try await client.delete("a", ifMatch: ifMatch),
                try await client.send("POST", "/tables/TodoItem/a", headers: ["If-Match": ifMatch]),
            ] {
                #expect(reply.status == 412)
                #expect(reply["text"] == "Milk")
                #expect(reply.etag == "\"MQ==\"")
            }
            #expect(try server.row("a", in: "TodoItem")?.version == "MQ==")
        }
    }

    @Test func `a precondition without quotes is accepted`() async throws {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a"])
            #expect(try await client.patch("a", ["text": "Tea"], ifMatch: "MQ==").status == 200)
        }
    }

    @Test func `a stale version in the body is 409 with the row, and the current one is accepted`()
        async throws
    {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a", "text": "Milk"])
            let stale = try await client.patch("a", ["text": "Tea", "version": "MA=="])
            #expect(stale.status == 409)
            #expect(stale["text"] == "Milk")
            #expect(stale.etag == "\"MQ==\"")
            #expect(try await client.patch("a", ["text": "Tea", "version": "MQ=="]).status == 200)
        }
    }

    @Test func `requests for a row that does not exist are 404`() async throws {
        try await withServer { _, client in
            for reply in [
                try await client.patch("a", ["text": "Tea"], ifMatch: "\"MQ==\""),
                try await client.delete("a"),
                try await client.send("POST", "/tables/TodoItem/a"),
                try await client.get("/tables/TodoItem/a"),
            ] {
                #expect(reply.status == 404)
                #expect(reply.json == ["error": "The item does not exist"])
            }
        }
    }

    @Test func `a column keeps its first spelling`() async throws {
        try await withServer { server, client in
            _ = try await client.insert(["id": "a", "Text": "Milk"])
            _ = try await client.patch("a", ["TEXT": "Tea"])
            #expect(try server.row("a", in: "TodoItem")?.fields == ["Text": "Tea"])
        }
    }

    @Test func `nested values are stored, or are 500 as on the modelled server`() async throws {
        let item: ItemValue = ["id": "a", "tags": ["x", ["deep": 1.5]]]
        try await withServer { _, client in
            try await #expect(client.insert(item)["tags"] == item["tags"])
        }
        try await withServer({ $0.acceptsNestedValues = false }) { server, client in
            try await #expect(client.insert(item).status == 500)
            try #expect(server.rows(in: "TodoItem").isEmpty)
        }
    }

    @Test func `an id with a NUL does not exist`() async throws {
        try await withServer { server, client in
            // The texts of databases end at a NUL.
            try await #expect(client.insert(["id": "a"]).status == 201)
            try await #expect(client.get("/tables/TodoItem/a%00").status == 404)
            try await #expect(client.patch("a\0", ["text": "b"]).status == 404)
            try await #expect(client.delete("a\0x").status == 404)
            try #expect(server.rows(in: "TodoItem").map(\.version) == ["MQ=="])
        }
    }

    @Test func `the number of columns and the size of a row are limited`() async throws {
        try await withServer({ $0.maxBodySize = 40_000 }) { server, client in
            let columns = { (range: Range<Int>) in
                ItemValue.object(Dictionary(uniqueKeysWithValues: range.map { ("c\($0)", 0) }))
            }
            try await #expect(client.insert(["id": "a"]).status == 201)
            try await #expect(client.patch("a", columns(0..<1999)).status == 200)
            try await #expect(client.patch("a", columns(1999..<2001)).status == 400)
            try await #expect(client.insert(columns(1999..<2001)).status == 400)
            try await #expect(client.patch("a", columns(1999..<2000)).status == 200)
            let text = ItemValue.text(String(repeating: "x", count: 39_000))
            var statuses: [Int] = []
            for column in 0..<11 {
                statuses.append(try await client.patch("a", .object(["c\(column)": text])).status)
            }
            #expect(statuses.filter { $0 == 200 }.count == 9)
            #expect(statuses.last == 413)
            try #expect(server.rows(in: "TodoItem").count == 1)
        }
    }

    @Test func `a row that changes have made larger than a body can be replaced`() async throws {
        try await withServer({ $0.maxBodySize = 1000 }) { server, client in
            func replace(_ row: [String: ItemValue]) async throws -> Int {
                try await client.send(.v3, "PUT", "TodoItem/a", .object(row)).status
            }
            let text = ItemValue.text(String(repeating: "x", count: 900))
            try await #expect(client.insert(["id": "a", "t0": text]).status == 201)
            for column in 1..<10 {
                try await #expect(client.patch("a", .object(["t\(column)": text])).status == 200)
            }
            let reply = try await client.send(.v3, "GET", "TodoItem/a")
            guard case .object(var row)? = reply.json else {
                Issue.record("\(reply.text)")
                return
            }
            row["t0"] = .text(String(repeating: "y", count: 900))
            try await #expect(replace(row) == 200)
            row["t10"] = .text(String(repeating: "x", count: 1200))
            try await #expect(replace(row) == 413)
            try #expect(server.rows(in: "TodoItem").first?.fields["t10"] == nil)
            row["t10"] = .text(String(repeating: "x", count: 2200))
            try await #expect(replace(row) == 400)
        }
    }

    @Test func `a server without a limit of bodies has none of rows`() async throws {
        try await withServer({ $0.maxBodySize = .max }) { server, client in
            try await server.put("a", [:], in: "TodoItem")
            try await #expect(client.patch("a", ["n": 1]).status == 200)
        }
    }

    @Test func `no response is for a cache`() async throws {
        try await withServer { _, client in
            for reply in [try await client.insert(["id": "a"]), try await client.list("TodoItem")] {
                #expect(reply.headers["cache-control"] == "no-store")
            }
        }
    }
}
