// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Access to the rows without HTTP.
@Suite(.onEachStorage)
struct RowAccessTests {
    @Test func `changes without HTTP are visible over HTTP`() async throws {
        try await withServer { server, client in
            let row = try await server.put(
                "a", ["n": 1, "at": .date(.noon), "b": .data(Data([1]))], in: "todoitem")
            #expect(row.version == "MQ==")
            let seen = try await client.get("/tables/TodoItem/a")
            #expect(seen["at"] == "2024-05-30T12:00:00.000Z")
            #expect(seen["b"] == "AQ==")
            #expect(seen.etag == "\"MQ==\"")

            server.clock.advance(by: .seconds(1))
            try await server.update("a", ["n": 2], in: "TodoItem")
            let updated = try await client.get("/tables/TodoItem/a")
            #expect(updated["n"] == 2)
            #expect(updated["b"] == "AQ==")
            #expect(updated["updatedAt"] == "2024-05-30T12:00:01.000Z")

            try await server.put("a", ["n": 3], in: "TodoItem")
            #expect(try server.row("a", in: "TodoItem")?.fields == ["n": 3])
            #expect(try await client.patch("a", ["n": 4], ifMatch: "\"Mg==\"").status == 412)
        }
    }

    @Test func `a removed row leaves a tombstone as its table is configured, or as the call requests`()
        async throws
    {
        try await withServer { server, _ in
            for table in ["TodoItem", "Other"] {
                try await server.put([("a", [:]), ("b", [:]), ("c", [:])], in: table)
                try await server.remove("a", in: table)
                try await server.remove("b", in: table, leavingTombstone: table == "Other")
                try await server.remove("nosuch", in: table)
            }
            #expect(
                try server.rows(in: "TodoItem").map { "\($0.id) \($0.deleted)" } == ["a true", "c false"])
            #expect(try server.rows(in: "Other").map { "\($0.id) \($0.deleted)" } == ["b true", "c false"])
            #expect(try await server.put("a", [:], in: "TodoItem").deleted == false)
        }
    }

    @Test func `a row can have a time in the past`() async throws {
        try await withServer { server, client in
            try await server.put("a", [:], in: "TodoItem")
            try await server.put("b", [:], in: "TodoItem", updatedAt: Timestamp("2020-01-01T00:00:00.000Z"))
            #expect(try await client.list("TodoItem", [("$orderby", "updatedAt")]).ids == ["b", "a"])
        }
    }

    @Test func `invalid tables, ids, names and rows are errors`() async throws {
        try await withServer { server, _ in
            let unknown = await #expect(throws: TableServerError.self) {
                try await server.put("a", [:], in: "x")
            }
            #expect(unknown?.code == .unknownTable)
            #expect(throws: TableServerError.self) { try server.rows(in: "x") }
            for (id, fields) in [
                ("", [:]), ("a\n", [:]), ("a", ["no-name": 1]), ("a", ["version": 1]),
                ("a", ["__version": 1]), ("a", ["text": 1, "TEXT": 2]),
            ] as [(String, [String: ItemValue])] {
                let error = await #expect(throws: TableServerError.self) {
                    try await server.put([("fine", [:]), (id, fields)], in: "TodoItem")
                }
                #expect(error?.code == .invalidRow)
            }
            let missing = await #expect(throws: TableServerError.self) {
                try await server.update("a", ["n": 1], in: "TodoItem")
            }
            #expect(missing?.code == .invalidRow)
            try #expect(server.rows(in: "TodoItem").isEmpty)
        }
    }

    @Test func `names of fields that differ only in case are one column`() async throws {
        try await withServer { server, client in
            try await server.put("a", ["Text": 1], in: "TodoItem")
            try await server.put([("b", ["text": 2, "n": 1]), ("c", ["TEXT": 3, "N": 1])], in: "TodoItem")
            try #expect(server.row("b", in: "TodoItem")?.fields == ["Text": 2, "n": 1])
            try #expect(server.row("c", in: "TodoItem")?.fields == ["Text": 3, "n": 1])
        }
    }
}
