// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TestSupport
import Testing

@testable import TableServer

/// `GET /tables/T/changes`: the events that tell that a table has changed.
@Suite
struct ChangeFeedTests {
    @Test func `a client without a mark gets the current one at once`() async throws {
        try await withServer { server, client in
            let empty = try await client.changes(wait: 60)
            #expect(empty.status == 200)
            #expect(empty.headers["content-type"] == "text/event-stream")
            #expect(empty.text == "id: empty\ndata: TodoItem\n\n")
            try await server.put("a", [:], in: "TodoItem")
            let mark = try #require(try await client.changes(wait: 60).mark)
            #expect(mark != "empty")
        }
    }

    @Test func `a waiting client is told of a change of the table, and of no other`() async throws {
        try await withServer { server, client in
            let mark = try #require(try await client.changes(wait: 60).mark)
            async let waiting = client.changes(after: mark, wait: 60)
            try await server.put("a", [:], in: "Other")
            try await #expect(client.changes(after: mark, wait: 0).mark == nil)
            try await #expect(client.insert(["id": "a"]).status == 201)
            let next = try await waiting.mark
            #expect(next != nil && next != mark)
        }
    }

    @Test func `one request can wait for several tables`() async throws {
        try await withServer { server, client in
            let all = try await client.changes(others: "Other", wait: 60)
            #expect(all.text.contains("data: TodoItem\n") && all.text.contains("data: Other\n"))
            let mark = try #require(all.mark)
            async let waiting = client.changes(others: "Other", after: mark, wait: 60)
            try await server.put("a", [:], in: "Other")
            let changed = try await waiting
            #expect(changed.text.contains("data: Other\n") && !changed.text.contains("TodoItem"))
            try await #expect(client.changes(others: "Other", after: changed.mark, wait: 0).mark == nil)
            // The mark of other tables does not count.
            try await #expect(client.changes(after: changed.mark, wait: 0).mark != nil)
            try await #expect(client.changes(others: "Unknown", wait: 0).status == 404)
        }
    }

    @Test func `only feeds of tables that another process has changed look at their rows`() {
        let changes = TableChanges()
        let (first, _) = changes.listen(to: [RowScope(table: TableServer.Table("a"))])
        let (second, _) = changes.listen(
            to: ["b", "c"].map { RowScope(table: TableServer.Table($0)) })
        let steps: [([String: String]?, Bool, Bool)] = [
            // A change between the start of a feed and the first look at the database is not missed.
            (["a": "1", "b": "1"], true, true), (["a": "1", "b": "1"], false, false),
            (["a": "2", "b": "1"], true, false), (["a": "2", "b": "1", "c": "1"], false, true),
            // The feeds find out why the database cannot be read.
            (nil, true, true), (["a": "2", "b": "1", "c": "1"], true, true),
            (["a": "2", "b": "1", "c": "2"], false, true),
        ]
        for (times, firstLooks, secondLooks) in steps {
            changes.update(times)
            #expect(!changes.takeChanges(first).isEmpty == firstLooks)
            #expect(!changes.takeChanges(second).isEmpty == secondLooks)
        }
    }

    @Test func `a table that is named several times is followed once`() async throws {
        try await withServer { _, client in
            let reply = try await client.changes(others: "TodoItem,Other,todoitem,Other", wait: 60)
            #expect(reply.text.split(separator: "data: ").count == 3)
        }
    }

    @Test func `the events name the tables as the client spells them`() async throws {
        try await withServer { server, client in
            let all = try await client.changes(of: "todoITEM", others: "OTHER,TodoItem,Other", wait: 60)
            #expect(all.text.contains("data: todoITEM\n") && all.text.contains("data: OTHER\n"))
            #expect(all.text.split(separator: "data: ").count == 3)
            try await server.put("a", [:], in: "Other")
            let changed = try await client.changes(of: "todoITEM", others: "OTHER", after: all.mark, wait: 60)
            #expect(changed.text.contains("data: OTHER\n") && !changed.text.contains("todoITEM"))
        }
    }

    @Test func `a client that has received only the first of several events misses no other`() async throws {
        try await withServer { server, client in
            let mark = try await client.changes(others: "Other", wait: 60).mark
            try await server.put("a", [:], in: "TodoItem")
            try await server.put("a", [:], in: "Other")
            let first = try #require(
                try await client.changes(others: "Other", after: mark, wait: 60).marks.first)
            let rest = try await client.changes(others: "Other", after: first, wait: 0).text
            #expect(rest.contains("data: Other\n") && !rest.contains("TodoItem"))
        }
    }

    @Test func `the client of the framework waits for changes`() async throws {
        try await withServer { server, _ in
            let (client, tables) = (
                SyncClient(url: server.url, transport: URLSessionTransport.patient), ["TodoItem", "Other"]
            )
            let all = try #require(try await client.nextChange(in: tables))
            #expect(all.tables == ["TodoItem", "Other"])
            async let waiting = client.nextChange(in: tables, after: all.mark, within: .seconds(60))
            try await server.put("a", [:], in: "Other")
            let change = try #require(try await waiting)
            #expect(change.tables == ["Other"])
            try await #expect(client.nextChange(in: tables, after: change.mark, within: .zero) == nil)
            let error = await #expect(throws: SyncError.self) { try await client.nextChange(in: ["Unknown"]) }
            #expect(error?.code == .tableNotOnServer)
        }
    }

    @Test func `each change has a different mark, also at the same time`() async throws {
        try await withServer { server, client in
            var marks: Set<String> = []
            func collect() async throws { marks.insert(try #require(try await client.changes(wait: 0).mark)) }
            try await collect()
            for id in ["a", "b", "a", "b"] {
                try await server.put(id, ["n": .int(Int64(marks.count))], in: "TodoItem")
                try await collect()
            }
            try await server.remove("a", in: "TodoItem")
            try await collect()
            #expect(marks.count == 6)
        }
    }

    @Test func `the marks of a per-user table do not tell that another user has changed a row`() async throws
    {
        try await withServer({
            $0.tables = [
                .init("Note", permissions: .init(.authenticated), isPerUser: true), .init("Open"),
            ]
            $0.authentication = try? Tokens.authentication()
        }) { server, client in
            try await #expect(client.changes(of: "Note", wait: 0).status == 401)
            try await #expect(client.changes(of: "Open", others: "Note", wait: 0).status == 401)
            let token = try await Tokens.token(of: "ann")
            let mark = try await client.changes(of: "Note", token: token, wait: 0).mark
            try await server.put("b", [:], in: "Note", of: "bob")
            try await #expect(client.changes(of: "Note", token: token, after: mark, wait: 0).mark == nil)
            try await server.put("a", [:], in: "Note", of: "ann")
            try await #expect(client.changes(of: "Note", token: token, after: mark, wait: 0).mark != nil)
        }
    }

    @Test func `requests that cannot be followed are refused`() async throws {
        try await withServer { _, client in
            for wait in ["-1", "61", "soon", ""] {
                let reply = try await client.send(
                    "GET", "/tables/TodoItem/changes?wait=\(wait)", headers: ["Accept": "text/event-stream"])
                #expect(reply.status == 400, "\(wait)")
            }
            try await #expect(client.changes(of: "Unknown", wait: 0).status == 404)
            // To a client that reads no events, it is the id of a row.
            try await #expect(client.insert(["id": "changes", "n": 1]).status == 201)
            try await #expect(client.get("/tables/TodoItem/changes")["n"] == 1)
        }
    }

    @Test func `one connection receives all changes, until the server stops`() async throws {
        let server = try await TableServer.start(configuration: .init(tables: [.init("TodoItem")]))
        let connection = try RawConnection(port: try #require(server.url.port))
        try connection.send(
            """
            GET /tables/TodoItem/changes HTTP/1.1\r
            Host: localhost\r
            Accept: text/event-stream\r
            ZUMO-API-VERSION: 2.0.0\r
            \r

            """)
        let all = Task { await connection.readToEnd() }
        let client = TestClient(server)
        var mark: String?
        for id in ["a", "b", "c"] {
            // Each change is announced before the next one is made.
            mark = try await client.changes(after: mark, wait: 60).mark
            try await server.put(id, [:], in: "TodoItem")
        }
        await server.stop(within: .seconds(600))
        let text = await all.value
        #expect(text.contains("id: empty\ndata: TodoItem\n\n"))
        // The end of a body in chunks: the response is complete.
        #expect(text.hasSuffix("0\r\n\r\n"))
    }

    @Test func `a client of HTTP/1.0 receives the events without chunks, until the connection ends`()
        async throws
    {
        try await withServer({ $0.idleTimeout = .seconds(60) }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send(
                "GET /tables/TodoItem/changes?wait=60 HTTP/1.0\r\nAccept: text/event-stream\r\n"
                    + "ZUMO-API-VERSION: 2.0.0\r\n\r\n")
            let response = await connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.0 200 "))
            #expect(response.hasSuffix("\r\n\r\nid: empty\ndata: TodoItem\n\n"))
        }
    }

    @Test func `a feed ends with the token of its client`() async throws {
        try await withServer({
            $0.tables = [.init("TodoItem", permissions: .init(.authenticated))]
            $0.authentication = try? Tokens.authentication()
        }) { server, client in
            let token = try await Tokens.token(of: "ann")
            let mark = try #require(try await client.changes(token: token, wait: 0).mark)
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send(
                """
                GET /tables/TodoItem/changes?wait=60 HTTP/1.1\r
                Host: localhost\r
                Accept: text/event-stream\r
                Connection: close\r
                Last-Event-ID: \(mark)\r
                X-ZUMO-AUTH: \(token)\r
                ZUMO-API-VERSION: 2.0.0\r
                \r

                """)
            await #expect(connection.read().hasPrefix("HTTP/1.1 200"))
            server.clock.advance(by: .seconds(7200))
            try await server.put("a", [:], in: "TodoItem")
            let rest = await connection.readToEnd()
            #expect(!rest.contains("data:"))
            try await #expect(client.changes(token: token, wait: 0).status == 401)
        }
    }

    @Test func `a change by another process on the same file is found`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            let configuration = TableServer.Configuration(
                tables: [.init("TodoItem")], storage: .file(file))
            try await withTableServer(configuration) { first in
                try await withTableServer(configuration) { second in
                    let client = TestClient(first)
                    let mark = try await client.changes(wait: 60).mark
                    async let waiting = client.changes(after: mark, wait: 60)
                    try await second.put("a", [:], in: "TodoItem")
                    #expect(try await waiting.mark != nil)
                }
            }
        }
    }
}

extension TestClient {
    fileprivate func changes(
        of table: String = "TodoItem", others: String = "", token: String? = nil,
        after mark: String? = nil, wait: Int
    ) async throws -> Reply {
        var headers = ["Accept": "text/event-stream"]
        headers["Last-Event-ID"] = mark
        headers["X-ZUMO-AUTH"] = token
        let query = "wait=\(wait)&tables=\(others)"
        return try await send("GET", "/tables/\(table)/changes?\(query)", headers: headers)
    }
}

extension TestClient.Reply {
    /// The id of the last event, if there is one.
    fileprivate var mark: String? { marks.last }

    /// The ids of the events.
    fileprivate var marks: [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }
}
