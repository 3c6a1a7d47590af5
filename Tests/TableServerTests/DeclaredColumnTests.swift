// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// Tables that declare their columns.
@Suite(.onEachStorage)
struct DeclaredColumnTests {
    private func withColumns(
        _ columns: [String]?, in storage: TableServer.Storage = .memory,
        _ body: (TableServer, TestClient) async throws -> Void
    ) async throws {
        try await withServer(
            {
                $0.storage = storage
                $0.tables = [.init("TodoItem", columns: columns)]
            }, body)
    }

    @Test(arguments: TableServer.Dialect.allCases)
    func `a write that names another column is 400, and changes nothing`(_ dialect: TableServer.Dialect)
        async throws
    {
        try await withColumns(["text", "Complete"]) { server, client in
            let insert = try await client.send(
                dialect, "POST", "TodoItem", ["id": "a", "text": "Milk", "txet": "Milk"])
            #expect(insert.status == 400)
            #expect(insert["error"]?.textValue?.contains("'TodoItem' has no column 'txet'") == true)
            try #expect(server.rows(in: "TodoItem").isEmpty)
            try await server.put("a", ["text": "Milk"], in: "TodoItem")
            let method = dialect == .v3 ? "PUT" : "PATCH"
            let update = try await client.send(
                dialect, method, "TodoItem/a", ["id": "a", "text": "Tea", "note": nil])
            #expect(update.status == 400)
            try #expect(server.row("a", in: "TodoItem")?.fields == ["text": "Milk"])
            // System properties are not declared.
            let declared = try await client.send(
                dialect, method, "TodoItem/a", ["id": "a", "text": "Tea", "Complete": true])
            #expect(declared.status == 200)
        }
    }

    @Test(arguments: TableServer.Dialect.allCases)
    func `rows have the declared spelling, whatever the first client has sent`(
        _ dialect: TableServer.Dialect
    ) async throws {
        try await withColumns(["text", "Complete"]) { server, client in
            let insert = try await client.send(
                dialect, "POST", "TodoItem", ["id": "a", "TEXT": "Milk", "complete": false])
            #expect(insert.status == 201)
            #expect(insert["text"] == "Milk" && insert["Complete"] == false)
            try await server.put("b", ["Text": "Tea"], in: "TodoItem")
            try #expect(server.row("b", in: "TodoItem")?.fields == ["text": "Tea"])
            for name in ["text", "TEXT"] {
                let list = try await client.send(dialect, "GET", "TodoItem?$filter=\(name)%20eq%20'Milk'")
                #expect(list.ids == ["a"])
            }
        }
    }

    @Test func `a row that a program stores has no other columns`() async throws {
        try await withColumns([]) { server, _ in
            try await server.put("a", [:], in: "TodoItem")
            let error = await #expect(throws: TableServerError.self) {
                try await server.put("b", ["text": "Milk"], in: "TodoItem")
            }
            #expect(error?.code == .invalidRow)
            await #expect(throws: TableServerError.self) {
                try await server.put([(id: "c", fields: ["text": "Milk"])], in: "TodoItem")
            }
            await #expect(throws: TableServerError.self) {
                try await server.update("a", ["text": "Milk"], in: "TodoItem")
            }
            try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
        }
    }

    /// Runs the body with a storage that keeps the rows when a server has stopped.
    private func withLastingStorage(_ body: (TableServer.Storage) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            switch StorageKind.current {
            case .sqlite: try await body(.file(directory.appending(path: "rows.sqlite").path))
            #if os(Linux) || os(macOS)
                case .postgreSQL: try await body(try StorageKind.current.storage())
            #endif
            }
        }
    }

    @Test func `columns that are not declared any more are read, but not written`() async throws {
        try await withLastingStorage { storage in
            try await withColumns(nil, in: storage) { server, client in
                try await server.put("a", ["text": "Milk", "note": "2 l"], in: "TodoItem")
                let others = (0..<2000).map { ("c\($0)", ItemValue.int(0)) }
                try await server.put("b", Dictionary(uniqueKeysWithValues: others), in: "TodoItem")
                // No more columns fit into the table.
                try await #expect(client.insert(["id": "c", "complete": true]).status == 400)
            }
            try await withColumns(["text", "complete"], in: storage) { _, client in
                try await #expect(client.patch("a", ["note": "1 l"]).status == 400)
                let reply = try await client.patch("a", ["complete": true])
                #expect(reply.status == 200)
                #expect(reply["note"] == "2 l" && reply["complete"] == true)
                try await #expect(client.list("TodoItem", [("$filter", "note eq '2 l'")]).ids == ["a"])
            }
        }
    }

    /// Clients return the columns that they do not know as they have received them.
    @Test func `a whole row may have columns that are not declared any more, with the values of the row`()
        async throws
    {
        try await withLastingStorage { storage in
            try await withColumns(nil, in: storage) { server, _ in
                try await server.put("a", ["text": "Milk", "note": "2 l", "size": 2], in: "TodoItem")
            }
            try await withColumns(["text"], in: storage) { server, client in
                for (body, status) in [
                    (["id": "a", "text": "Tea", "note": "2 l", "SIZE": 2.0], 200),
                    (["id": "a", "text": "Ale", "note": "1 l", "size": 2], 400),
                    (["id": "a", "text": "Ale", "other": "1 l"], 400),
                ] as [(ItemValue, Int)] {
                    let reply = try await client.send(.v3, "PUT", "TodoItem/a", body)
                    #expect(reply.status == status)
                    let expected: [String: ItemValue] = ["text": "Tea", "note": "2 l", "size": 2]
                    try #expect(server.row("a", in: "TodoItem")?.fields == expected)
                }
            }
        }
    }

    @Test func `a column that rows have with another spelling is an error at the start`() async throws {
        try await withLastingStorage { storage in
            try await withColumns(nil, in: storage) { server, _ in
                try await server.put("a", ["TEXT": "Milk"], in: "TodoItem")
            }
            let error = await #expect(throws: TableServerError.self) {
                try await withColumns(["text"], in: storage) { _, _ in }
            }
            #expect(error?.code == .configuration)
            #expect(error?.message.contains("declare 'TEXT'") == true)
            try await withColumns(["TEXT"], in: storage) { _, client in
                try await #expect(client.patch("a", ["text": "Tea"])["TEXT"] == "Tea")
            }
        }
    }

    @Test(arguments: [["a b"], [""], ["a", "A"], ["id"], ["Version"], ["__deleted"]])
    func `columns that no table can have are an error at the start`(_ columns: [String]) async throws {
        let error = await #expect(throws: TableServerError.self) {
            try await withColumns(columns) { _, _ in }
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("'\(columns.last ?? "")'") == true)
    }
}
