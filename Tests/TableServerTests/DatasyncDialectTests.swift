// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Requests of the dialect v3.
@Suite(.onEachStorage)
struct DatasyncDialectTests {
    /// Sends a request with the API version 3.0.0.
    private func send(
        _ client: TestClient, _ method: String, _ path: String, _ body: ItemValue? = nil,
        ifMatch: String? = nil, ifNoneMatch: String? = nil
    ) async throws -> TestClient.Reply {
        var headers: [String: String] = [:]
        headers["If-Match"] = ifMatch
        headers["If-None-Match"] = ifNoneMatch
        return try await client.send(method, "/tables/\(path)", body, headers: headers, apiVersion: "3.0.0")
    }

    private func list(_ client: TestClient, _ parameters: [(String, String)]) async throws -> TestClient.Reply
    {
        let query = parameters.map { "\($0.encoded)=\($1.encoded)" }.joined(separator: "&")
        return try await send(client, "GET", "TodoItem?\(query)")
    }

    @Test func `one server answers requests of both dialects`() async throws {
        try await withServer { _, client in
            let row = try await send(client, "POST", "TodoItem", ["id": "a", "text": "Milk"])
            #expect(row.status == 201)
            #expect(row.etag == "\"MQ==\"")
            #expect(row["updatedAt"] == "2024-05-30T12:00:00.000Z")
            try await #expect(client.list("TodoItem").json == .array([try #require(row.json)]))
            let list = try await send(client, "GET", "TodoItem")
            #expect(list.json == ["items": .array([try #require(row.json)])])
        }
    }

    @Test func `requests without an API version can be of this dialect`() async throws {
        try await withServer({
            $0.requiresAPIVersion = false; $0.dialectWithoutVersion = .v3
        }) { _, client in
            let list = try await client.send("GET", "/tables/TodoItem", apiVersion: nil)
            #expect(list.json == ["items": []])
            try await #expect(client.send("GET", "/tables/TodoItem").json == [])
        }
    }

    @Test func `an update replaces the whole row, and ignores system properties in the body`() async throws {
        try await withServer { server, client in
            _ = try await send(client, "POST", "TodoItem", ["id": "a", "text": "Milk", "n": 1])
            server.clock.advance(by: .seconds(1))
            let reply = try await send(
                client, "PUT", "TodoItem/a",
                [
                    "id": "a", "TEXT": "Tea", "deleted": true, "version": "x", "createdAt": nil,
                    "updatedAt": "2000-01-01T00:00:00Z",
                ], ifMatch: "\"MQ==\"")
            #expect(reply.status == 200)
            #expect(reply.etag == "\"Mg==\"")
            #expect(
                reply.json == [
                    "id": "a", "text": "Tea", "n": nil, "deleted": false, "version": "Mg==",
                    "createdAt": "2024-05-30T12:00:00.000Z", "updatedAt": "2024-05-30T12:00:01.000Z",
                ])
        }
    }

    @Test(arguments: [["text": "Tea"], ["id": "b", "text": "Tea"]] as [ItemValue])
    func `an update without the id of its path is 400`(_ body: ItemValue) async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            try await #expect(send(client, "PUT", "TodoItem/a", body).status == 400)
            #expect(try server.row("a", in: "TodoItem")?.fields == ["text": "Milk"])
        }
    }

    @Test func `an insert of an existing id is 409 with the server's row, or 412 if the row must not exist`()
        async throws
    {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            for (tag, status) in [(nil, 409), ("*", 412)] {
                let reply = try await send(
                    client, "POST", "TodoItem", ["id": "a", "text": "Tea"], ifNoneMatch: tag)
                #expect(reply.status == status)
                #expect(reply["text"] == "Milk")
                #expect(reply.etag == "\"MQ==\"")
            }
        }
    }

    @Test(arguments: [
        ("\"MQ==\"", true), ("*", true), ("\"MA==\", \"MQ==\"", true), ("W/\"MQ==\"", false),
        ("\"MA==\"", false),
        ("\"MA==,MQ==\"", false), ("\"\"", false),
    ])
    func `a condition is a list of versions or matches every row`(_ ifMatch: String, _ isMet: Bool)
        async throws
    {
        try await withServer { server, client in
            for id in ["a", "b"] { try await server.put(id, ["text": "Milk"], in: "TodoItem") }
            let put = try await send(
                client, "PUT", "TodoItem/a", ["id": "a", "text": "Tea"], ifMatch: ifMatch)
            #expect(put.status == (isMet ? 200 : 412))
            #expect(put["text"] == (isMet ? "Tea" : "Milk"))
            #expect(put.etag == (isMet ? "\"Mg==\"" : "\"MQ==\""))
            let delete = try await send(client, "DELETE", "TodoItem/b", ifMatch: ifMatch)
            #expect(delete.status == (isMet ? 204 : 412))
            #expect(try server.row("b", in: "TodoItem")?.deleted == isMet)
        }
    }

    @Test func `a read of a row that the client has is 304 without a body`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            let unchanged = try await send(client, "GET", "TodoItem/a", ifNoneMatch: "\"MQ==\"")
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            let other = try await send(client, "GET", "TodoItem/a", ifNoneMatch: "\"MA==\"")
            #expect(other.status == 200)
            let put = try await send(
                client, "PUT", "TodoItem/a", ["id": "a"], ifNoneMatch: "\"MQ==\"")
            #expect(put.status == 412)
        }
    }

    @Test(arguments: ["W/\"MQ==\"", "\"MA==\",\tW/\"MQ==\"", "*"])
    func `a weak tag of the version also says that the client has the row`(_ tag: String) async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            try await #expect(send(client, "GET", "TodoItem/a", ifNoneMatch: tag).status == 304)
            let put = try await send(client, "PUT", "TodoItem/a", ["id": "a"], ifNoneMatch: tag)
            #expect(put.status == 412)
            #expect(put["text"] == "Milk")
            let insert = try await send(client, "POST", "TodoItem", ["id": "a"], ifNoneMatch: tag)
            #expect(insert.status == 412)
            let other = try await send(client, "GET", "TodoItem/a", ifNoneMatch: "W/\"MA==\"")
            #expect(other.status == 200)
        }
    }

    @Test(arguments: [("If-Match", 200), ("If-None-Match", 412)])
    func `the lines of a condition are one list`(_ name: String, _ status: Int) async throws {
        try await withServer { server, _ in
            try await server.put("a", [:], in: "TodoItem")
            let connection = try RawConnection(port: try #require(server.url.port))
            let body = "{\"id\":\"a\"}"
            try connection.send(
                "PUT /tables/TodoItem/a HTTP/1.1\r\nHost: localhost\r\nZUMO-API-VERSION: 3.0.0\r\n"
                    + "\(name): \"MA==\"\r\n\(name.lowercased()): \"MQ==\"\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
            let response = await connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test func `a deleted row is 410, and an update that includes deleted rows restores it`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            let delete = try await send(client, "DELETE", "TodoItem/a")
            #expect(delete.status == 204)
            #expect(delete.body.isEmpty)
            for (method, body) in [("GET", nil), ("DELETE", nil), ("PUT", ["id": "a", "text": "Tea"])]
                as [(String, ItemValue?)]
            {
                // Also with a version that is not the row's.
                let reply = try await send(client, method, "TodoItem/a", body, ifMatch: "\"MA==\"")
                #expect(reply.status == 410)
                #expect(reply["error"]?.textValue?.isEmpty == false)
            }
            let path = "TodoItem/a?__includedeleted=true"
            try await #expect(send(client, "GET", path)["deleted"] == true)
            let body: ItemValue = ["id": "a", "text": "Tea"]
            let stale = try await send(client, "PUT", path, body, ifMatch: "\"MQ==\"")
            #expect(stale.status == 412)
            #expect(stale["deleted"] == true)
            let restored = try await send(client, "PUT", path, body, ifMatch: "\"Mg==\"")
            #expect(restored.status == 200)
            #expect(restored["deleted"] == false)
            #expect(try server.row("a", in: "TodoItem")?.fields == ["text": "Tea"])
        }
    }

    @Test func `requests for a row that does not exist are 404`() async throws {
        try await withServer { _, client in
            for (method, body) in [("GET", nil), ("DELETE", nil), ("PUT", ["id": "a"])]
                as [(String, ItemValue?)]
            {
                let reply = try await send(client, method, "TodoItem/a", body)
                #expect(reply.status == 404)
                #expect(reply.json == ["error": "The item does not exist"])
            }
        }
    }

    @Test(arguments: ["PATCH", "POST"])
    func `the methods of the older dialects do not exist`(_ method: String) async throws {
        try await withServer { server, client in
            try await server.put("a", [:], in: "TodoItem")
            try await #expect(send(client, method, "TodoItem/a", ["text": "Tea"]).status == 404)
        }
    }

    @Test(arguments: [nil, 7, 5] as [Int?])
    func `the links of a list lead through all pages, and the last page has none`(_ top: Int?) async throws {
        try await withServer({ $0.pageSize = 3 }) { server, client in
            for n in 0..<7 { try await server.put("id\(6 - n)", ["n": .int(Int64(n))], in: "TodoItem") }
            let query = "$filter=n%20ge%200&mine=a%20b&$count=true"
            var next: String? = query + (top.map { "&$top=\($0)" } ?? "")
            var pages: [[String]] = []
            while let link = next {
                let page = try await send(client, "GET", "TodoItem?\(link)")
                pages.append(page.ids)
                #expect(page["count"] == 7)
                next = page["nextLink"]?.textValue
                if let next { #expect(next.hasPrefix(query + "&$skip=")) }
            }
            // Without an order, rows are in the order of their ids.
            let ids = (0..<(top ?? 7)).map { "id\($0)" }
            #expect(pages.map(\.count) == (top == 5 ? [3, 2] : [3, 3, 1]))
            #expect(pages.flatMap { $0 } == ids)
        }
    }

    @Test func `a list includes deleted rows only when the parameter is true`() async throws {
        try await withServer { server, client in
            try await server.put("a", [:], in: "TodoItem")
            try await server.remove("a", in: "TodoItem")
            for (name, value, count) in [
                ("__includedeleted", "true", 1), ("__includeDeleted", "True", 1),
                ("__includedeleted", "false", 0), ("__includedeleted", "1", 0),
            ] {
                try await #expect(list(client, [(name, value)]).items.count == count)
            }
        }
    }

    @Test(arguments: [
        "contains(text,'il')", "updatedAt eq cast(2024-05-30T12:00:00.000Z,Edm.DateTimeOffset)",
        "updatedAt ge 2024-05-30T12:00:00Z", "updatedAt lt 2024-05-30T14:00:00.001+02:00",
        "cast(2024-05-30T12:00:00.000Z, Edm.DateTimeOffset) le updatedAt and n sub 2023 eq 1",
        "startswith(text,'Mi') and n eq 2024", "text in ('Tea','Milk')",
        "n in (-1, 2024) and text in ('Milk')",
        "n eq 1 or n in (2024,1)", "not (n in (1,2)) and in eq null", "(n in (2024,null)) eq true",
    ])
    func `filters are of OData v4`(_ filter: String) async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk", "n": 2024], in: "TodoItem")
            try await #expect(list(client, [("$filter", filter)]).ids == ["a"])
            try await #expect(list(client, [("$filter", "not (\(filter))")]).ids == [])
        }
    }

    @Test(arguments: [
        ("$filter", "substringof('il',text)"),
        ("$filter", "updatedAt eq datetimeoffset'2024-05-30T12:00:00Z'"),
        ("$filter", "updatedAt eq cast(2024-05-30T12:00:00.000Z,Edm.Guid)"),
        ("$filter", "cast(1,Edm.Int64) eq 1"),
        ("$filter", "updatedAt eq 2024-13-30T12:00:00Z"), ("$filter", "updatedAt eq cast(2024-05-30)"),
        ("$filter", "n in ()"), ("$filter", "n in (1"), ("$filter", "n in 1"), ("$filter", "n in (n)"),
        ("$filter", "1 in (1,2)"), ("$filter", "length(text) in (4)"),
        ("$inlinecount", "allpages"), ("$count", "yes"),
    ])
    func `parameters of the older dialects are 400`(_ name: String, _ value: String) async throws {
        try await withServer { _, client in
            let reply = try await list(client, [(name, value)])
            #expect(reply.status == 400)
            #expect(reply["error"]?.textValue?.isEmpty == false)
        }
    }

    @Test(arguments: [
        "contains(text,'il')", "updatedAt eq cast(2024-05-30T12:00:00.000Z,Edm.DateTimeOffset)",
        "updatedAt eq 2024-05-30T12:00:00Z", "n in (1,2)",
    ])
    func `filters of this dialect are 400 in an older one`(_ filter: String) async throws {
        try await withServer { _, client in
            try await #expect(client.list("TodoItem", [("$filter", filter)]).status == 400)
        }
    }

    @Test func `a read of another version than the client names is 412 with the row`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            let other = try await send(client, "GET", "TodoItem/a", ifMatch: "\"MA==\"")
            #expect(other.status == 412)
            #expect(other["text"] == "Milk" && other.etag == "\"MQ==\"")
            try await #expect(send(client, "GET", "TodoItem/a", ifMatch: "\"MQ==\"").status == 200)
            // The older dialects ignore the header.
            let older = try await client.send(
                "GET", "/tables/TodoItem/a", headers: ["If-Match": "\"MA==\""])
            #expect(older.status == 200)
        }
    }
}
