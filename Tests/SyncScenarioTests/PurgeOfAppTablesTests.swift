// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// Purges of tables in the app's own database.
@Suite
struct PurgeOfAppTablesTests {
    private func open(_ app: MigratedApp, _ tables: SyncTableDefinition...) throws -> SyncContext {
        app.scenario.device(on: try SQLiteStore(database: app.database, tables: tables)).context
    }

    @Test func `rows of a table that was never synced stay when it gets a column after a purge`() async throws
    {
        try await MigratedApp.run { app in
            let todo = SyncTableDefinition(Todo.name, columns: [Todo.text])
            var context = try open(app, todo)
            try await context.purgeAll()
            try await context.close()

            try await app.migrate("CREATE TABLE player(id TEXT PRIMARY KEY, name TEXT)")
            let name = SyncCore.SyncColumn("name", .text)
            context = try open(app, todo, SyncTableDefinition("player", columns: [name]))
            #expect(try await context.table("player").items().isEmpty)
            try await context.close()
            try await app.migrate("INSERT INTO player(id, name) VALUES('1', 'Ann')")

            let score = SyncCore.SyncColumn("score", .integer)
            context = try open(app, todo, SyncTableDefinition("player", columns: [name, score]))
            #expect(try await context.table("player").items().map(\.id) == ["1"])
            try await context.close()
        }
    }

    /// - Parameter isDeclared: whether the app declares the parents; otherwise only its database knows them.
    @Test(arguments: [true, false])
    func `a purge of all tables removes children before their parents`(_ isDeclared: Bool) async throws {
        try await MigratedApp.run { app in
            try await app.migrate(
                """
                CREATE TABLE List(id TEXT PRIMARY KEY, text TEXT);
                CREATE TABLE Entry(id TEXT PRIMARY KEY, list TEXT REFERENCES list(id))
                """)
            let context = try open(
                app, SyncTableDefinition("List", columns: [Todo.text]),
                SyncTableDefinition(
                    "Entry", columns: [SyncColumn("list", .text)], parents: isDeclared ? ["List"] : []))
            try await context.table("List").insert(["id": "l", "text": "a"])
            try await context.table("Entry").insert(["id": "e", "list": "l"])
            try await context.purgeAll(pending: .discard)
            #expect(try await context.table("List").items().isEmpty)
            #expect(try await context.table("Entry").items().isEmpty)
            try await context.close()
        }
    }

    @Test(arguments: [true, false])
    func `children that a purge has removed with their parents are pulled again`(_ areDeclared: Bool)
        async throws
    {
        try await MigratedApp.run { app in
            try await app.migrate(
                """
                CREATE TABLE List(id TEXT PRIMARY KEY, text TEXT);
                CREATE TABLE Entry(id TEXT PRIMARY KEY, list TEXT REFERENCES List(id) ON DELETE CASCADE);
                CREATE TABLE Mark(id TEXT PRIMARY KEY, entry TEXT REFERENCES Entry(id) ON DELETE CASCADE)
                """)
            let tables = ["List", "Entry", "Mark"]
            try await Scenario.run(on: .sqlite, configure: { $0.tables = tables.map { .init($0) } }) {
                scenario in
                let store = try SQLiteStore(
                    database: app.database,
                    tables: [
                        SyncTableDefinition("List", columns: [Todo.text]),
                        SyncTableDefinition(
                            "Entry", columns: [SyncColumn("list", .text)],
                            parents: areDeclared ? ["List"] : []),
                        SyncTableDefinition(
                            "Mark", columns: [SyncColumn("entry", .text)],
                            parents: areDeclared ? ["Entry"] : []),
                    ])
                let context = scenario.device(on: store).context
                try await scenario.server.put("l", ["text": "a"], in: "List")
                try await scenario.server.put("e", ["list": "l"], in: "Entry")
                try await scenario.server.put("m", ["entry": "e"], in: "Mark")
                scenario.server.clock.advance(by: .seconds(10))
                func pull() async throws {
                    for table in tables { try await context.pull(TableQuery(table), queryID: "all") }
                }
                try await pull()
                try await context.purge(TableQuery("List"))
                #expect(try await context.table("Mark").items().isEmpty)
                try await pull()
                for table in tables { #expect(try await context.table(table).items().count == 1) }
                try await context.close()
            }
        }
    }

    /// - Parameter isDelete: whether the decision restores a deleted parent, or removes one whose row is unknown.
    @Test(arguments: [true, false])
    func `children that a foreign key has removed before a decision, or by one, are pulled again`(
        _ isDelete: Bool
    ) async throws {
        try await MigratedApp.runWithLists(settings: .singleAttempt) { app, scenario, device in
            let context = device.context
            func pull() async throws {
                for table in ["List", "Entry"] {
                    try await context.pull(TableQuery(table), queryID: "all", settings: .withoutPush)
                }
            }
            try await pull()
            if isDelete {
                try await context.table("List").delete(id: "l")
            } else {
                try await app.migrate("UPDATE List SET text = 'b'")
                try await context.enqueueExternalChanges(in: "List", changed: ["l"])
            }
            scenario.server.onRequest { $0.isWrite ? .refusal(403) : .none }
            try await context.cancelAndDiscardItem(for: await device.expectPushError())
            try await pull()
            #expect(try await context.table("List").items().map(\.id) == ["l"])
            #expect(try await context.table("Entry").items().map(\.id) == ["e"])
        }
    }

    @Test func `children that a reconciliation has removed with their parents are pulled again`() async throws
    {
        try await MigratedApp.runWithLists { _, scenario, device in
            let context = device.context
            let open = TableQuery("List").where(.column("text") == "open")
            try await context.pull(open, queryID: "open")
            try await context.pull(TableQuery("Entry"), queryID: "all")
            try await scenario.server.update("l", ["text": "archived"], in: "List")
            try await context.reconcile(open, removingMost: true)
            #expect(try await context.table("Entry").items().isEmpty)
            try await context.pull(TableQuery("List"), queryID: "all")
            try await context.pull(TableQuery("Entry"), queryID: "all")
            #expect(try await context.table("Entry").items().map(\.id) == ["e"])
        }
    }

    /// - Parameter isWhole: whether the purge matches both rows, so that the foreign key removes no further one.
    @Test(arguments: [false, true])
    func `rows that a foreign key removes beside those that a purge matches are pulled again`(
        _ isWhole: Bool
    ) async throws {
        try await MigratedApp.run { app in
            try await app.migrate(
                """
                CREATE TABLE Folder(id TEXT PRIMARY KEY, text TEXT,
                    parent TEXT REFERENCES Folder(id) ON DELETE CASCADE)
                """)
            try await Scenario.run(on: .sqlite, configure: { $0.tables = [.init("Folder")] }) { scenario in
                let definition = SyncTableDefinition(
                    "Folder", columns: [Todo.text, SyncColumn("parent", .text)])
                let store = try SQLiteStore(database: app.database, tables: [definition])
                let context = scenario.device(on: store).context
                try await scenario.server.put("a", ["text": "old"], in: "Folder")
                try await scenario.server.put("b", ["text": "new", "parent": "a"], in: "Folder")
                scenario.server.clock.advance(by: .seconds(10))
                let all = TableQuery("Folder")
                try await context.pull(all, queryID: "all")
                let purged = isWhole ? all : all.where(.column("text") == "old")
                try await context.purge(purged, keepingDeltaTokens: true)
                #expect(try await context.table("Folder").items().isEmpty)
                try await context.pull(all, queryID: "all")
                let ids = try await context.table("Folder").items().map(\.id)
                #expect(ids.contains("b") == !isWhole)
                try await context.close()
            }
        }
    }
}
