// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import Testing

@testable import TableServer

/// The limits of the work that one filter can cause.
@Suite
struct FilterLimitTests {
    @Test(.onEachStorage) func `a filter that searches for a text of more than 1000 characters is 400`()
        async throws
    {
        try await withServer { server, client in
            let text = String(repeating: "a", count: 100_000)
            let longest = String(repeating: "\0", count: 999) + "é"
            try await server.put("a", ["t": .text(text), "p": .text(longest)], in: "TodoItem")
            for filter in [
                "substringof(concat(t,'b'),concat(t,t))", "indexof('x',concat(p,'x')) eq 1",
                "substringof(concat('x',p),null) or substringof(concat('x',p),'x')",
            ] {
                let reply = try await client.list("TodoItem", [("$filter", filter)])
                #expect(reply.status == 400, "\(filter)")
                #expect(reply["error"]?.textValue?.contains("1000 characters") == true)
            }
            let contains = try await client.send(
                "GET", "/tables/TodoItem?$filter=contains(t,concat(p,'x'))", apiVersion: "3.0.0")
            #expect(contains.status == 400)
            let found = try await client.list("TodoItem", [("$filter", "substringof(p,concat(t,p))")])
            #expect(found.ids == ["a"])
        }
    }

    @Test(.onEachStorage) func `a filter of more values than a database accepts in a statement is 400`()
        async throws
    {
        try await withServer { server, client in
            try await server.put("a", ["n": 1], in: "TodoItem")
            let signs = "n eq " + String(repeating: "-", count: 10) + "n"
            for (count, status) in [(1000, 200), (1200, 400)] {
                let filter = Array(repeating: signs, count: count).joined(separator: " or ")
                let reply = try await client.list("TodoItem", [("$filter", filter)])
                #expect(reply.status == status)
            }
            let names = Array(repeating: "n eq 1", count: 3700).joined(separator: " or ")
            try await #expect(client.list("TodoItem", [("$filter", names)]).ids == ["a"])
        }
    }

    @Test func `an expression that is too deep for SQLite is 400`() {
        let sum = Array(repeating: "1", count: 2000).joined(separator: " + ")
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue().read { database in _ = try Int.fetchOne(database, sql: "SELECT \(sum)") }
        }
        #expect(error?.requestError?.status == 400)
    }

    @Test func `a read that takes too long is 503, and other requests are answered`() async throws {
        try await withServer({ $0.sqliteLimits = .noTimeForReads }) { server, client in
            try await server.put((0..<200).map { ("\($0)", ["n": 1]) }, in: "TodoItem")
            async let slow = client.list("TodoItem", [("$filter", "n add 1 eq 3")])
            try await #expect(client.get("/tables/TodoItem/7").status == 200)
            let reply = try await slow
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "1")
            try await #expect(client.patch("7", ["n": 2]).status == 200)
            try #expect(server.rows(in: "TodoItem").count == 200)
        }
    }
}
