// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

@Suite(.onEachStorage)
struct ListTests {
    private func withRows(
        _ count: Int, pageSize: Int = 50, _ body: (TableServer, TestClient) async throws -> Void
    ) async throws {
        try await withServer({ $0.pageSize = pageSize }) { server, client in
            for n in 0..<count {
                try await server.put(
                    "id\(n)", ["n": .int(Int64(n)), "odd": .bool(n % 2 == 1)], in: "TodoItem")
            }
            try await body(server, client)
        }
    }

    @Test func `a list is an array in the order of insertion`() async throws {
        try await withServer { server, client in
            for id in ["b", "c", "a"] { try await server.put(id, [:], in: "TodoItem") }
            try await server.update("b", ["n": 1], in: "TodoItem")
            for id in ["d", "0"] { try await server.put(id, [:], in: "TodoItem") }
            let reply = try await client.list("TodoItem")
            #expect(reply.text.hasPrefix("["))
            #expect(reply.ids == ["b", "c", "a", "d", "0"])
            #expect(try server.rows(in: "TodoItem").map(\.sequence) == [1, 2, 3, 4, 5])
            #expect(reply.etag?.hasPrefix("W/\"") == true)
        }
    }

    @Test func `a page has a maximum size, and a link to the next page if the client requests more rows`()
        async throws
    {
        try await withRows(7, pageSize: 3) { server, client in
            let firstPage = try await client.list(
                "TodoItem", [("$filter", "n ge 0"), ("$top", "7"), ("mine", "a b")])
            #expect(firstPage.ids == ["id0", "id1", "id2"])
            let link = try #require(firstPage.headers["link"])
            #expect(link.hasSuffix("; rel=next"))
            #expect(link.hasPrefix(server.url.absoluteString + "/tables/TodoItem?"))

            let next = link.dropFirst(server.url.absoluteString.count).dropLast("; rel=next".count)
            let second = try await client.get(String(next))
            #expect(second.ids == ["id3", "id4", "id5"])
            #expect(server.requests.last?.parameter("mine") == "a b")
            #expect(server.requests.last?.parameter("$top") == "4")

            for parameters in [[], [("$top", "3")], [("$top", "7"), ("$skip", "5")]] {
                #expect(try await client.list("TodoItem", parameters).headers["link"] == nil)
            }
        }
    }

    @Test func `a window behind all rows is empty, and one without bounds is refused`() async throws {
        try await withServer({ ($0.pageSize, $0.maxTop) = (.max, .max) }) { server, client in
            try await server.put("a", [:], in: "TodoItem")
            try await #expect(client.list("TodoItem").ids == ["a"])
            let (far, beyond) = ("9007199254740992", "\(Int.max)")
            for top in [[], [("$top", "5")], [("$top", far)]] {
                let reply = try await client.list("TodoItem", [("$skip", far)] + top)
                #expect(reply.status == 200 && reply.ids.isEmpty)
            }
            for name in ["$skip", "$top"] {
                try await #expect(client.list("TodoItem", [(name, beyond)]).status == 400)
            }
        }
    }

    @Test(arguments: [
        ("https", "https"), ("HTTPS", "https"), (" https , http", "https"), ("http, https", "http"),
        ("ftp", "http"), ("", "http"),
    ])
    func `the link to the next page has the scheme that the client has used`(
        forwarded: String, scheme: String
    ) async throws {
        try await withRows(3, pageSize: 1) { _, client in
            let path = "/tables/TodoItem?$top=2"
            let headers = ["X-Forwarded-Proto": forwarded]
            let link = try await client.send("GET", path, headers: headers).headers["link"]
            #expect(link?.hasPrefix("\(scheme)://127.0.0.1:") == true)
        }
    }

    @Test func `a page has 50 rows by default, and the maximum top is 1000`() async throws {
        try await withRows(60) { _, client in
            try await #expect(client.list("TodoItem").items.count == 50)
            try await #expect(client.list("TodoItem", [("$top", "1000")]).items.count == 50)
            try await #expect(client.list("TodoItem", [("$top", "0")]).items.isEmpty)
        }
    }

    @Test func `skip and top select rows of the list, and do not change the count`() async throws {
        try await withRows(10) { _, client in
            let reply = try await client.list(
                "TodoItem",
                [("$filter", "odd"), ("$skip", "1"), ("$top", "2"), ("$inlinecount", "allpages")])
            #expect(reply["count"] == 5)
            #expect(reply.ids == ["id3", "id5"])
            #expect(try await client.list("TodoItem", [("$skip", "10")]).text == "[]")
            #expect(try await client.list("TodoItem", [("$inlinecount", "none")]).text.hasPrefix("["))
        }
    }

    @Test func `select returns the named columns, without regard to case`() async throws {
        try await withRows(1) { _, client in
            let reply = try await client.list("TodoItem", [("$select", "ID, N,nosuch")])
            #expect(reply.items == [["id": "id0", "n": 0]])
        }
    }

    @Test func `rows are ordered by the keys, nulls first, then by id`() async throws {
        try await withServer { server, client in
            try await server.put("d", ["n": 1, "t": "x"], in: "TodoItem")
            try await server.put("c", ["n": 1.5, "t": "B"], in: "TodoItem")
            try await server.put("b", ["n": 1, "t": "é"], in: "TodoItem")
            try await server.put("a", ["n": 1, "t": "x"], in: "TodoItem")
            try await server.put("e", ["t": nil], in: "TodoItem")
            for (order, ids) in [
                ("n", ["e", "a", "b", "d", "c"]), ("n desc", ["c", "a", "b", "d", "e"]),
                ("n asc, t desc", ["e", "b", "a", "d", "c"]), ("T", ["e", "c", "a", "d", "b"]),
                ("id", ["a", "b", "c", "d", "e"]), ("id desc", ["e", "d", "c", "b", "a"]),
                ("nosuch", ["a", "b", "c", "d", "e"]),
            ] {
                #expect(try await client.list("TodoItem", [("$orderby", order)]).ids == ids, "\(order)")
            }
        }
    }

    @Test func `responses can have fewer fraction digits than stored times`() async throws {
        try await withServer({
            $0.fractionDigits = 3; $0.keptFractionDigits = 7
        }) { server, client in
            server.clock.advance(by: .nanoseconds(123_456_789))
            let row = try await client.insert(["id": "a"])
            #expect(row["updatedAt"] == "2024-05-30T12:00:00.123Z")
            let after = try await client.list(
                "TodoItem", [("$filter", "updatedAt gt datetimeoffset'2024-05-30T12:00:00.123Z'")])
            #expect(after.ids == ["a"])
            let exact = try await client.list(
                "TodoItem", [("$filter", "updatedAt eq datetimeoffset'2024-05-30T12:00:00.1234567Z'")])
            #expect(exact.ids == ["a"])
        }
    }

    @Test func `responses can have seven fraction digits`() async throws {
        try await withServer({ $0.fractionDigits = 7 }) { server, client in
            server.clock.advance(by: .nanoseconds(123_456_789))
            try await #expect(client.insert(["id": "a"])["updatedAt"] == "2024-05-30T12:00:00.1234567Z")
        }
    }
}
