// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

@Suite(.onEachStorage)
struct PathTests {
    @Test(arguments: [
        "a b", "a/b", "O'Brien", "a%2Fb", "é", "e\u{301}", "日本", "a+b", "?", "#&=", "...", "\"\\",
        "\u{FEFF}a", "\u{FEFF}",
    ])
    func `an id is one path segment and keeps its bytes`(_ id: String) async throws {
        try await withServer { server, client in
            try await #expect(client.insert(["id": .text(id), "n": 1]).status == 201)
            try await #expect(client.get("/tables/TodoItem/\(id.encoded)")["id"] == .text(id))
            try await #expect(client.patch(id, ["n": 2])["n"] == 2)
            try await #expect(client.delete(id).status == 200)
            try await #expect(client.send("POST", "/tables/TodoItem/\(id.encoded)").status == 201)
            #expect(server.requests.last?.itemID.map { Array($0.utf8) } == Array(id.utf8))
            let filter = "id eq '\(id.replacing("'", with: "''"))'"
            try await #expect(client.list("TodoItem", [("$filter", filter)]).items.count == 1)
        }
    }

    @Test(arguments: [".", ".."]) func `an id that URLs read as a relative path is refused`(_ id: String)
        async throws
    {
        try await withServer { _, client in
            try await #expect(client.insert(["id": .text(id)]).status == 400)
        }
    }

    @Test func `a query parameter keeps a byte order mark at its beginning`() async throws {
        try await withServer { server, client in
            let text = "\u{FEFF}a"
            _ = try await client.send("GET", "/tables/TodoItem?\(text.encoded)=\(text.encoded)")
            let parameter = try #require(server.requests.last?.parameters.first)
            #expect(parameter.name == text)
            #expect(parameter.value == text)
        }
    }

    @Test func `canonically equivalent ids with different bytes are two rows`() async throws {
        try await withServer { server, client in
            try await #expect(client.insert(["id": "\u{E9}"]).status == 201)
            try await #expect(client.insert(["id": "e\u{301}"]).status == 201)
            try #expect(server.rows(in: "TodoItem").count == 2)
        }
    }

    @Test func `table names are compared without regard to case`() async throws {
        try await withServer { server, client in
            try await #expect(client.insert(["id": "a"], in: "TODOITEM").status == 201)
            try await #expect(client.get("/tables/todoitem/a").status == 200)
            try #expect(server.rows(in: "todoItem").map(\.id) == ["a"])
        }
    }

    @Test func `each table has separate rows`() async throws {
        try await withServer { _, client in
            _ = try await client.insert(["id": "a"], in: "TodoItem")
            #expect(try await client.list("Other").items.isEmpty)
        }
    }
}
