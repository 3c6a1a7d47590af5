// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// The limits of the work of a filter within one row.
@Suite
struct ComputedTextTests {
    @Test(.onEachStorage) func `a filter that computes a text of more than a million bytes is 400`()
        async throws
    {
        try await withServer { server, client in
            // 500 000 bytes. PostgreSQL stores a NUL as nine bytes.
            let half = String(repeating: "é", count: 249_500) + String(repeating: "\0", count: 1000)
            try await server.put("a", ["t": .text(half)], in: "TodoItem")
            func list(_ filter: String) async throws -> TestClient.Reply {
                try await client.list("TodoItem", [("$filter", filter), ("$select", "id")])
            }
            try await #expect(list("length(concat(t,t)) eq 501000").ids == ["a"])
            for filter in ["length(concat(concat(t,t),'x')) gt 0", "concat('x',concat(t,t)) ne null"] {
                let reply = try await list(filter)
                #expect(reply.status == 400, "\(filter)")
                #expect(reply["error"]?.textValue?.contains("1000000 bytes") == true)
            }
            try await #expect(list("concat(concat(t,t),1) eq null").ids == ["a"])
        }
    }

    @Test func `the time of a read also ends while the filter is evaluated for one row`() async throws {
        try await withServer({ $0.sqliteLimits = .noTimeForReads }) { server, client in
            try await server.put("a", ["n": 1], in: "TodoItem")
            let reply = try await client.list("TodoItem", [("$filter", "n add 1 eq 2")])
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "1")
            // This list is too short for the checks of SQLite.
            try await #expect(client.list("TodoItem").ids == ["a"])
        }
    }
}
