// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import TableServer
import Testing

enum TodoItem {
    static let text = Column("text", .text)
    static let complete = Column("complete", .bool, isIndexed: true)
    static let definition = TableDefinition("TodoItem", columns: [text, complete])
}

/// The README's examples: each is here word for word, so that it compiles, and does what the README says.
@Suite struct ReadmeTests {
    @Test func `every example of the README is in this file`() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let code = Self.withoutMargins(try String(contentsOf: here, encoding: .utf8))
        let examples = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(examples.count >= 5)
        for example in examples {
            #expect(code.contains(Self.withoutMargins(example)), "\(example)")
        }
    }

    @Test func `the example`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let (url, path) = (scenario.server.url, scenario.directory.appendingPathComponent("todo").path)

            let store = try SQLiteStore(path: path, tables: [TodoItem.definition])
            let context = SyncContext(client: SyncClient(url: url), dataSource: store)
            let table = context.table("TodoItem")

            let milk = try await table.insert(["text": "Buy milk", "complete": false])
            try await table.update(id: milk.id, ["complete": true])

            try await context.push()
            try await context.pull(table.query, queryID: "all")

            let rows = try scenario.server.rows(in: "TodoItem")
            #expect(rows.map(\.fields) == [["text": "Buy milk", "complete": true]])
            try await context.close()
        }
    }

    @Test func `another HTTP client`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let url = scenario.server.url

            let client = SyncClient(url: url, transport: AsyncHTTPTransport())

            let context = SyncContext(
                client: client, dataSource: try MemoryStore(tables: [TodoItem.definition]))
            let table = context.table("TodoItem")
            try await table.insert(["text": "Buy milk", "complete": false])
            try await context.push()
            #expect(try scenario.server.rows(in: "TodoItem").count == 1)
            let pulled = try await context.pull(table.query, queryID: "all")
            #expect(pulled.received == 1)
            try await context.close()
        }
    }

    @Test func `choosing a store`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let path = scenario.directory.appendingPathComponent("todo.sqlite").path
            let otherPath = scenario.directory.appendingPathComponent("todo.lmdb").path
            let contexts = try Self.contexts(SyncClient(url: scenario.server.url), path, otherPath)
            try await contexts[0].table("TodoItem").insert(["text": "Buy eggs", "complete": false])
            try await contexts[0].push()
            for context in contexts {
                let table = context.table("TodoItem")
                for try await progress in context.pulling(table.query, queryID: "all") {
                    print("\(progress.received) rows so far")
                }

                let query = table.query
                    .where(TodoItem.complete == false && .contains(TodoItem.text, "eggs"))
                    .order(by: TodoItem.text)
                    .limit(20)
                let result = try await table.items(matching: query.includingTotalCount())

                #expect(result.items.map { $0["text"] } == ["Buy eggs"])
                #expect(result.totalCount == 1)
                try await context.close()
            }
        }
    }

    private static func contexts(
        _ client: SyncClient, _ path: String, _ otherPath: String
    ) throws -> [SyncContext] {
        let tables = [TodoItem.definition]

        let onSQLite = SyncContext(client: client, dataSource: try SQLiteStore(path: path, tables: tables))
        let onLMDB = SyncContext(client: client, dataSource: try LMDBStore(path: otherPath, tables: tables))
        let inMemory = SyncContext(client: client, dataSource: try MemoryStore(tables: tables))

        return [onSQLite, onLMDB, inMemory]
    }

    @Test(arguments: [true, false]) func `conflicts`(clientWins: Bool) async throws {
        let usesClient = { (_: Item, _: Item) in clientWins }
        try await Scenario.run(on: .memory) { scenario in
            let context = SyncContext(
                client: SyncClient(url: scenario.server.url),
                dataSource: try MemoryStore(tables: [TodoItem.definition]))
            try await Self.provokeConflict(context, scenario.server)

            do {
                try await context.push()
            } catch let error as SyncError where error.code == .pushCompletedWithErrors {
                for conflict in error.pushResult?.errors ?? [] {
                    guard let mine = conflict.item, let theirs = conflict.serverItem else { continue }
                    if usesClient(mine, theirs) {
                        try await context.keepAndUpdateItem(for: conflict, with: mine)
                    } else {
                        try await context.cancelAndUpdateItem(for: conflict, with: theirs)
                    }
                }
                try await context.push()
            }

            #expect(
                try scenario.server.row("eggs", in: "TodoItem")?.fields["text"]
                    == (clientWins ? "Buy eggs (6)" : "Buy organic eggs"))
        }
    }

    @Test func `a rule for conflicts`() async throws {
        var settings = SyncSettings()
        settings.resolver = .fieldMerge(onClash: .serverWins)

        let chosen = settings
        try await Scenario.run(on: .memory) { scenario in
            let context = SyncContext(
                client: SyncClient(url: scenario.server.url),
                dataSource: try MemoryStore(tables: [TodoItem.definition]), settings: chosen)
            try await Self.provokeConflict(context, scenario.server)
            try await context.push()
            #expect(try await context.table("TodoItem").item(id: "eggs")?["text"] == "Buy organic eggs")
        }
    }

    /// Two edits of one item, the later one pending.
    private static func provokeConflict(_ context: SyncContext, _ server: TableServer) async throws {
        let table = context.table("TodoItem")
        try await table.insert(["id": "eggs", "text": "Buy eggs", "complete": false])
        try await context.push()
        try await table.update(id: "eggs", ["text": "Buy eggs (6)"])
        try await server.update("eggs", ["text": "Buy organic eggs"], in: "TodoItem")
    }

    /// The lines without the white space around them, and without empty ones.
    private static func withoutMargins(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n")
    }
}
