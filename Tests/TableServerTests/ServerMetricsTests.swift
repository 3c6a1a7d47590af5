// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// What an operator sees of the requests.
@Suite
struct ServerMetricsTests {
    @Test func `requests are counted by method, table and status`() async throws {
        try await withServer({ $0.showsMetrics = true }) { server, client in
            for _ in 0..<2 { _ = try await client.list("todoitem") }
            _ = try await client.insert(["id": "a"])
            _ = try await client.insert(["id": "a"])
            _ = try await client.get("/tables/nosuch\"x")
            _ = try await client.send("OPTIONS", "/tables/TodoItem")
            let reply = try await client.send("GET", "/metrics", apiVersion: nil)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            let lines = reply.text.split(separator: "\n").map(String.init)
            let name = "table_server_request_seconds"
            for (labels, count) in [
                (#"method="GET",table="TodoItem",status="200""#, 2),
                (#"method="POST",table="TodoItem",status="201""#, 1),
                (#"method="POST",table="TodoItem",status="409""#, 1),
                (#"method="GET",table="",status="404""#, 1),
                (#"method="other",table="TodoItem",status="404""#, 1),
            ] {
                #expect(lines.contains("\(name)_count{\(labels)} \(count)"), "\(labels)")
                #expect(lines.contains("\(name)_bucket{\(labels),le=\"+Inf\"} \(count)"), "\(labels)")
            }
            #expect(!reply.text.contains("nosuch"))
        }
    }

    @Test func `there are no metrics unless they are turned on`() async throws {
        try await withServer { _, client in
            try await #expect(client.send("GET", "/metrics", apiVersion: nil).status == 404)
        }
    }

    @Test func `the log has one line for each request, without ids, fields and tokens`() async throws {
        let log = LogMessages()
        try await withServer({
            $0.logger = log.logger
        }) { server, client in
            _ = try await client.send(
                "POST", "/tables/TodoItem", ["id": "SECRET", "text": "SECRET"],
                headers: ["X-ZUMO-AUTH": "SECRET"])
            _ = try await client.get("/tables/TodoItem/SECRET?$filter=text%20eq%20'SECRET'")
        }
        let lines = log.all.filter { $0.hasPrefix("request") }
        #expect(lines.count == 2)
        for (line, part) in zip(lines, ["POST TodoItem 201", "GET TodoItem 200"]) {
            #expect(line.hasPrefix("request " + part))
        }
        #expect(!log.all.joined().contains("SECRET"))
    }
}
