// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import TableServer
import TestSupport
import Testing

enum TodoItem {
    static let text = SyncColumn("text", .text)
    static let complete = SyncColumn("complete", .bool, isIndexed: true)
    static let definition = SyncTableDefinition("TodoItem", columns: [text, complete])
}

/// The README's samples, with checks of what they do. `ArticleSampleTests` compares them with the README's text.
@Suite struct ReadmeTests {
    @Test func `the README's first example pushes and pulls`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let (url, path) = (scenario.server.url, scenario.directory.appendingPathComponent("todo").path)

            #if os(Linux)
                let transport = AsyncHTTPTransport()
            #else
                let transport = URLSessionTransport()
            #endif
            let store = try SQLiteStore(path: path, tables: [TodoItem.definition])
            let context = SyncContext(client: SyncClient(url: url, transport: transport), dataSource: store)
            let table = context.table("TodoItem")

            let milk = try await table.insert(["text": "Buy milk", "complete": false])
            try await table.update(id: milk.id, ["complete": true])

            // Pushes, and then fetches what has changed.
            let result = try await table.pull(queryID: "all")

            #expect(result.pushErrors.isEmpty)
            let rows = try scenario.server.rows(in: "TodoItem")
            #expect(rows.map(\.fields) == [["text": "Buy milk", "complete": true]])
            try await context.close()
        }
    }

    @Test func `the README's examples of stores, pulls, queries and observations run`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let path = scenario.directory.appendingPathComponent("todo.sqlite").path
            let otherPath = scenario.directory.appendingPathComponent("todo.lmdb").path
            let contexts = try Self.contexts(
                SyncClient(url: scenario.server.url, transport: .patient), path, otherPath)
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

                var seen: [[Item]] = []
                func show(_ items: [Item]) { seen.append(items) }
                let closing = Task { try await context.close() }
                for try await result in table.observe(query) { show(result.items) }

                try await closing.value
                #expect(seen.allSatisfy { $0 == result.items })
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

    /// The change of another client.
    enum OtherChange: CaseIterable { case update, softDelete, hardDelete }

    @Test(arguments: [TableOperation.Kind.update, .delete], OtherChange.allCases)
    func `conflicts`(_ kind: TableOperation.Kind, _ other: OtherChange) async throws {
        for clientWins in [true, false] {
            let usesClient = { (_: TableOperationError) in clientWins }
            let tables = [TableServer.Table("TodoItem", softDelete: other != .hardDelete)]
            try await withTableServer(.init(tables: tables)) { server in
                let context = SyncContext(
                    client: SyncClient(url: server.url, transport: .patient),
                    dataSource: try MemoryStore(tables: [TodoItem.definition]))
                try await Self.provokeConflict(context, server, kind, other)

                do {
                    try await context.push()
                } catch let error as SyncError where error.code == .pushCompletedWithErrors {
                    for conflict in error.pushResult?.errors ?? [] where conflict.isConflict {
                        if !usesClient(conflict) {
                            try await context.cancelAndDiscardItem(for: conflict)
                        } else if conflict.kind == .delete {
                            try await context.changeKind(for: conflict, to: .delete)
                        } else if let mine = conflict.item {
                            try await context.keepAndUpdateItem(for: conflict, with: mine)
                        }
                    }
                    try await context.push()
                }

                let theirs = other == .update ? "Buy organic eggs" : nil
                let mine = kind == .update ? "Buy eggs (6)" : nil
                let expected = clientWins ? mine : theirs
                let row = try server.row("eggs", in: "TodoItem").flatMap { $0.deleted ? nil : $0 }
                #expect(row?.fields["text"]?.textValue == expected)
                #expect(try await context.table("TodoItem").item(id: "eggs")?["text"]?.textValue == expected)
                #expect(try await context.pendingOperationCount() == 0)
            }
        }
    }

    @Test func `the README's resolver merges a conflict`() async throws {
        var settings = SyncSettings()
        settings.resolver = .fieldMerge(onClash: .serverWins)
        let chosen = settings
        try await Scenario.run(on: .memory) { scenario in
            let context = SyncContext(
                client: SyncClient(url: scenario.server.url, transport: .patient),
                dataSource: try MemoryStore(tables: [TodoItem.definition]), settings: chosen)
            try await Self.provokeConflict(context, scenario.server, .update, .update)
            try await context.push()
            #expect(try await context.table("TodoItem").item(id: "eggs")?["text"] == "Buy organic eggs")
        }
    }

    /// Changes an item on both sides, so that the client's pending change conflicts.
    private static func provokeConflict(
        _ context: SyncContext, _ server: TableServer, _ kind: TableOperation.Kind, _ other: OtherChange
    ) async throws {
        let table = context.table("TodoItem")
        try await table.insert(["id": "eggs", "text": "Buy eggs", "complete": false])
        try await context.push()
        if kind == .delete {
            try await table.delete(id: "eggs")
        } else {
            try await table.update(id: "eggs", ["text": "Buy eggs (6)"])
        }
        if other == .update {
            try await server.update("eggs", ["text": "Buy organic eggs"], in: "TodoItem")
        } else {
            try await server.remove("eggs", in: "TodoItem")
        }
    }
}
