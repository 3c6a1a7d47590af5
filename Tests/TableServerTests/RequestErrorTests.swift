// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// Requests that are an error.
@Suite(.onEachStorage)
struct RequestErrorTests {
    @Test(arguments: ["createdAt", "updatedAt", "deleted", "UpdatedAt"])
    func `a body with a property that only the server sets is 400`(_ name: String) async throws {
        try await withServer { server, client in
            let item: ItemValue = .object(["id": "a", "text": "Tea", name: nil])
            let insert = try await client.insert(item)
            #expect(insert.status == 400)
            #expect(insert["error"]?.textValue?.contains(name) == true)
            #expect(try server.rows(in: "TodoItem").isEmpty)
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            #expect(try await client.patch("a", item).status == 400)
            #expect(try server.row("a", in: "TodoItem")?.fields == ["text": "Milk"])
        }
    }

    @Test(arguments: [
        "", "{", "[]", "\"a\"", "{\"a\":1,}", "{\"id\":7}", "{\"id\":\"\"}", "{\"id\":\"a\\u0000\"}",
        "{\"no-name\":1}", "{\"\":1}", "{\"1a\":1}", "{\"a\":1,\"A\":2}", "{\"a\":1e999}",
    ])
    func `a body that is not an item is 400 with a reason`(_ body: String) async throws {
        try await withServer { server, client in
            let reply = try await client.send("POST", "/tables/TodoItem", data: Data(body.utf8))
            #expect(reply.status == 400)
            #expect(reply["error"]?.textValue?.isEmpty == false)
            #expect(try server.rows(in: "TodoItem").isEmpty)
        }
    }

    @Test func `a body larger than the maximum is 400, and one of the maximum size is accepted`() async throws
    {
        try await withServer({ $0.maxBodySize = 5000 }) { server, client in
            let frame = Data("{\"id\":\"a\",\"text\":\"\"}".utf8).count
            let fits = ItemValue.object([
                "id": "a", "text": .text(String(repeating: "x", count: 5000 - frame)),
            ])
            let exceeds = ItemValue.object([
                "id": "b", "text": .text(String(repeating: "x", count: 5001 - frame)),
            ])
            try await #expect(client.insert(fits).status == 201)
            try await #expect(client.insert(exceeds).status == 400)
            try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
            #expect(server.requests.map(\.bodySize) == [5000, 5001])
        }
    }

    @Test func `the default maximum size of a body is 100 kB`() async throws {
        try await withServer { server, client in
            let text = String(repeating: "x", count: 200_000)
            try await #expect(client.insert(["text": .text(text)]).status == 400)
            #expect(server.requests.first?.body.count == 102_400)
        }
    }

    @Test func `a body that is many times larger than the maximum is 413 before its end`() async throws {
        try await withServer({ $0.maxBodySize = 1000 }) { server, client in
            let connection = try RawConnection(port: try #require(server.url.port))
            // The rest of the announced body is never sent.
            try connection.send(
                "POST /tables/TodoItem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n"
                    + "Content-Length: 1000000000\r\n\r\n" + String(repeating: "x", count: 40_000))
            let response = await connection.read()
            #expect(response.hasPrefix("HTTP/1.1 413 "))
            #expect(response.contains("larger than 1000 bytes"))
            #expect(response.contains("Connection: close"))
            #expect(server.requests.map(\.status) == [413])
        }
    }

    @Test func `a client that sends a large body to its end receives the refusal`() async throws {
        try await withServer({ $0.maxBodySize = 10_000 }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send(
                "POST /tables/TodoItem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n"
                    + "Content-Length: 10000000\r\n\r\n" + String(repeating: "x", count: 10_000_000))
            await #expect(connection.readToEnd().hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test
    func `a refusal of a large body is in the log and the metrics, and counts for the limit of requests`()
        async throws
    {
        let log = LogMessages()
        try await withServer({
            ($0.maxBodySize, $0.maxRequestsPerSecond, $0.showsMetrics) = (1000, 1, true)
            $0.logger = log.logger
        }) { server, client in
            let body = Data(repeating: UInt8(ascii: "x"), count: 100_000)
            for status in [413, 429] {
                let reply = try await client.send("POST", "/tables/TodoItem", data: body)
                #expect(reply.status == status)
                #expect(log.all.contains { $0.hasPrefix("request POST TodoItem \(status)") })
            }
            let metrics = try await client.get("/metrics").text
            #expect(metrics.contains(#"method="POST",table="TodoItem",status="413""#))
        }
    }

    @Test func `a value that is nested too deeply for a list of rows is 400`() async throws {
        try await withServer({ $0.acceptsNestedValues = true }) { server, client in
            func nested(_ depth: Int) -> ItemValue {
                (1..<depth).reduce(ItemValue.array([])) { value, _ in .array([value]) }
            }
            try await #expect(client.insert(["id": "a", "n": nested(98)]).status == 400)
            try await #expect(client.insert(["id": "a", "n": nested(97)]).status == 201)
            let remote = SyncClient(url: server.url, transport: .patient).table("TodoItem")
            let row = try await remote.query(TableQuery("TodoItem")).items.first
            #expect(row?["n"] == nested(97))
        }
    }

    @Test func `a version that is not a string is 400, not an update without a condition`() async throws {
        try await withServer { server, client in
            let row = try await server.put("a", ["text": "Milk"], in: "TodoItem")
            for version: ItemValue in [5, ["MQ=="], [:], true] {
                let reply = try await client.send(
                    "PATCH", "/tables/TodoItem/a", ["version": version, "text": "Tea"])
                #expect(reply.status == 400)
            }
            #expect(try server.row("a", in: "TodoItem") == row)
            let reply = try await client.send("PATCH", "/tables/TodoItem/a", ["version": nil, "text": "Tea"])
            #expect(reply.status == 200)
        }
    }

    @Test func `a client that asks before it sends the body is told to continue`() async throws {
        try await withServer { server, client in
            let connection = try RawConnection(port: try #require(server.url.port))
            let body = #"{"id":"a"}"#
            try connection.send(
                "POST /tables/TodoItem HTTP/1.1\r\nHost: localhost\r\nZUMO-API-VERSION: 2.0.0\r\n"
                    + "Expect: 100-Continue\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            )
            await #expect(connection.read().hasPrefix("HTTP/1.1 100 "))
            try connection.send(body)
            await #expect(connection.readToEnd().contains("HTTP/1.1 201 "))
        }
    }

    @Test func `headers of more than 80 kB end the connection`() async throws {
        try await withServer { server, client in
            let connection = try RawConnection(port: try #require(server.url.port))
            try? connection.send(
                "GET /tables/TodoItem HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 200_000)
                    + "\r\n\r\n")
            let response = await connection.readToEnd()
            #expect(!response.hasPrefix("HTTP/1.1 2"))
            #expect(server.requests.isEmpty)
            try await #expect(client.list("TodoItem").status == 200)
        }
    }

    @Test func `a filter or an order that no database can run is 400`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["v": "x"], in: "TodoItem")
            let pairs = String(repeating: "v eq 1 or (v eq 2 and (", count: 45)
            let deep = pairs + "v eq 3" + String(repeating: "))", count: 45)
            // A database without a limit answers it.
            try await #expect([200, 400].contains(client.list("TodoItem", [("$filter", deep)]).status))
            var long = "v"
            for _ in 0..<6 { long = "concat(\(long),\(long))" }
            let order = (0...100).map { "c\($0)" }.joined(separator: ",")
            for (name, value) in [("$filter", "length(\(long)) gt 0"), ("$orderby", order)] {
                let reply = try await client.list("TodoItem", [(name, value)])
                #expect(reply.status == 400)
                #expect(reply["error"]?.textValue?.contains("more than") == true)
            }
            let most = (0..<100).map { "c\($0)" }.joined(separator: ",")
            try await #expect(client.list("TodoItem", [("$orderby", most)]).ids == ["a"])
            let nested = String(repeating: "not (v eq 1 or ", count: 10) + "v eq 2"
            let filter = nested + String(repeating: ")", count: 10)
            try await #expect(client.list("TodoItem", [("$filter", filter)]).status == 200)
        }
    }

    @Test func `HEAD has the head of GET, and no body`() async throws {
        try await withServer { server, client in
            try await server.put("a", [:], in: "TodoItem")
            for path in ["/health/live", "/tables/TodoItem", "/tables/TodoItem/a", "/tables/TodoItem/b"] {
                let (get, head) = (try await client.get(path), try await client.send("HEAD", path))
                #expect(head.status == get.status && head.body.isEmpty)
                #expect(head.headers["content-length"] == get.headers["content-length"])
            }
        }
    }

    @Test func `an id in the body that differs from the path is 400`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            #expect(try await client.patch("a", ["id": "b", "text": "Tea"]).status == 400)
        }
    }

    @Test func `an update without fields is 500, as on the modelled server`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            #expect(try await client.patch("a", ["id": "a"]).status == 500)
        }
    }

    @Test(arguments: [nil, "1.0.0", "4.0.0", "3.1.0", "3", "2", "2.0", "2.0.x", "2.0.0.0"] as [String?])
    func `a wrong API version is 400`(_ version: String?) async throws {
        try await withServer { _, client in
            let reply = try await client.send("GET", "/tables/TodoItem", apiVersion: version)
            #expect(reply.status == 400)
            #expect(reply["error"]?.textValue?.contains("API version") == true)
        }
    }

    @Test func `the API version can be a query parameter, or optional`() async throws {
        try await withServer { _, client in
            let path = "/tables/TodoItem?ZUMO-API-VERSION=2.0.0"
            try await #expect(client.send("GET", path, apiVersion: nil).status == 200)
        }
        try await withServer({ $0.requiresAPIVersion = false }) { _, client in
            try await #expect(client.send("GET", "/tables/TodoItem", apiVersion: nil).status == 200)
        }
    }

    @Test(arguments: [
        ("POST", "/tables/nosuch"), ("GET", "/tables/nosuch/a"), ("GET", "/"), ("GET", "/tables"),
        ("GET", "/tables/TodoItem/a/b"), ("PUT", "/tables/TodoItem/a"), ("DELETE", "/tables/TodoItem"),
        ("GET", "/tables/TodoItem/%FF"),
    ])
    func `an unknown path is 404 with an HTML page`(_ method: String, _ path: String) async throws {
        try await withServer { _, client in
            let reply = try await client.send(method, path)
            #expect(reply.status == 404)
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
            #expect(reply.text.contains("Cannot \(method) \(path)"))
        }
    }

    @Test(arguments: [
        ("$top", "1001"), ("$top", "-1"), ("$top", "x"), ("$top", ""), ("$skip", "-1"), ("$skip", "1.5"),
        ("$inlinecount", "some"), ("$count", "true"), ("$filter", "text eq"), ("$filter", "(1 eq 1"),
        ("$orderby", "text up"), ("$orderby", "text,"), ("$orderby", "length(text)"),
    ])
    func `an invalid parameter is 400 with a reason`(_ name: String, _ value: String) async throws {
        try await withServer { _, client in
            let reply = try await client.list("TodoItem", [(name, value)])
            #expect(reply.status == 400)
            #expect(reply["error"]?.textValue?.isEmpty == false)
            #expect(reply.etag?.hasPrefix("W/\"") == true)
        }
    }

    @Test func `a client's own parameters are ignored`() async throws {
        try await withServer { server, client in
            let reply = try await client.list("TodoItem", [("mine", "a b&c"), ("x", "1"), ("x", "2")])
            #expect(reply.status == 200)
            #expect(server.requests.first?.parameter("mine") == "a b&c")
        }
    }

    @Test func `more requests a second than the limit are refused, until time has passed`() async throws {
        let clock = ServerClock.standing(at: .noon)
        try await withServer({ ($0.maxRequestsPerSecond, $0.clock) = (3, clock) }) { _, client in
            for _ in 0..<3 { try await #expect(client.list("TodoItem").status == 200) }
            let refused = try await client.list("TodoItem")
            #expect(refused.status == 429)
            #expect(refused.headers["retry-after"] == "1")
            // Others than tables have no limit, so that a supervisor does not take the server for dead.
            try await #expect(client.get("/health/ready").status == 200)
            clock.advance(by: .milliseconds(400))
            try await #expect(client.list("TodoItem").status == 200)
            try await #expect(client.list("TodoItem").status == 429)
            clock.advance(by: .seconds(-60))
            try await #expect(client.list("TodoItem").status == 429)
            clock.advance(by: .seconds(1))
            for _ in 0..<3 { try await #expect(client.list("TodoItem").status == 200) }
        }
    }

    @Test func `each user has a limit of their own`() async throws {
        try await withServer({
            ($0.maxRequestsPerSecond, $0.clock) = (1, .standing(at: .noon))
            $0.authentication = try? Tokens.authentication()
        }) { _, client in
            for user in ["ann", "bob"] {
                let headers = ["X-ZUMO-AUTH": try await Tokens.token(of: user)]
                for status in [200, 429] {
                    try await #expect(
                        client.send("GET", "/tables/TodoItem", headers: headers).status == status)
                }
            }
        }
    }
}
