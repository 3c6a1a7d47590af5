// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncModels
import TestSupport
import Testing

@testable import SyncSimulation

/// Automatic syncs and live queries of stores in a database of the app.
@Suite struct AppDatabaseTests {
    private struct App {
        let pool: DatabasePool
        let store: SQLiteStore

        /// Opens a database of the app whose table refuses one name of lists.
        init(path: String) throws {
            let pool = try DatabasePool(path: path)
            try pool.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE TodoList (
                            id TEXT PRIMARY KEY NOT NULL, name TEXT CHECK (name <> 'refused'))
                        """)
            }
            self.pool = pool
            store = try SQLiteStore(database: pool, tables: VirtualSystem.tables())
        }

        /// Inserts a list and enqueues the change, in one transaction of the app.
        func insertList(_ id: String, name: String, at now: Timestamp) throws {
            try pool.write { database in
                try database.execute(
                    sql: "INSERT INTO TodoList (id, name) VALUES (?, ?)", arguments: [id, name])
                try store.enqueueExternalChanges(in: "TodoList", changed: [id], at: now, on: database)
            }
        }
    }

    private func withApp(
        pulls: [PullPlan] = [], _ body: (VirtualSystem, VirtualDevice, App) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let app = try App(path: directory.appending(path: "app.sqlite").path())
            try await VirtualSystem.run { system in
                let device = try system.device(pulls: pulls, store: app.store)
                try await body(system, device, app)
                try await system.perform { try await device.context.close() }
            }
            try app.pool.close()
        }
    }

    @Test func `a conflict waits for its decision without requests, also in the app's database`() async throws
    {
        try await withApp { system, device, _ in
            try await system.makeConflict(on: device)
            #expect(device.sync.state.conflicts == 1)
            _ = device.network.newRequests()
            await system.advance(.seconds(3600))
            #expect(device.network.requests == [])
        }
    }

    @Test func `a change that the app commits in its own transaction is pushed once`() async throws {
        try await withApp { system, device, app in
            device.run()
            await system.advance(.seconds(10))
            #expect(device.network.requests == [])
            let now = system.scheduler.now
            try await system.perform { try app.insertList("list", name: "home", at: now) }
            await system.advance(.milliseconds(1500))
            #expect(device.network.newRequests() == ["POST TodoList"])
            #expect(system.server.rows(of: "TodoList")["list"]?.fields["name"] == .text("home"))
            await system.advance(.seconds(3600))
            #expect(device.network.requests == [])
        }
    }

    /// The model does not have the column in which the app has stored a value of another type.
    @Test func `a live query shows the rows that a fetch returns, whatever their other columns have`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let pool = try DatabasePool(path: directory.appending(path: "app.sqlite").path())
            try await pool.write { database in
                try database.execute(
                    sql: "CREATE TABLE TodoList (id TEXT PRIMARY KEY NOT NULL, name TEXT, size INTEGER)")
            }
            let table = SyncTableDefinition(
                "TodoList", columns: [SyncColumn("name", .text), SyncColumn("size", .integer)])
            let url = try #require(URL(string: "http://127.0.0.1:9"))
            let context = SyncContext(
                client: SyncClient(url: url), dataSource: try SQLiteStore(database: pool, tables: [table]))
            try await pool.write { database in
                try database.execute(
                    sql: "INSERT INTO TodoList (id, name, size) VALUES ('1', 'Garden', 'large')")
            }
            let lists = context.table(TodoList.self)
            #expect(try await lists.fetch().map(\.name) == ["Garden"])
            var pages = lists.live().makeAsyncIterator()
            #expect(try await pages.next()?.map(\.name) == ["Garden"])
            struct ListID: SyncModel {
                var id = SyncID<ListID>()
                static let schema = ModelSchema("TodoList", ListID())
            }
            var ids = context.table(ListID.self).live().makeAsyncIterator()
            #expect(try await ids.next()?.map(\.id) == ["1"])
            var names = context.live { try $0.fetch(TodoList.all).map(\.name) }.makeAsyncIterator()
            #expect(try await names.next() == ["Garden"])
            let immediate = await MainActor.run {
                LiveList(TodoList.all, in: context, first: .immediate).models.map(\.name)
            }
            #expect(immediate == ["Garden"])
            try await lists.insert(TodoList(id: "2", name: "House"))
            #expect(try await pages.next()?.map(\.name) == ["Garden", "House"])
            #expect(try await names.next() == ["Garden", "House"])
            try await context.close()
            try pool.close()
        }
    }

    @Test func `a row that the app's table refuses delays no other plan and no push, and is pulled again`()
        async throws
    {
        try await withApp(pulls: [TodoList.all.pull(), Todo.all.pull()]) { system, device, _ in
            system.server.write("list", ["name": .text("refused")], in: "TodoList", isLate: false)
            system.server.write("milk", ["text": .text("milk")], in: "TodoItem", isLate: false)
            device.run()
            await system.advance(.seconds(10))
            #expect(try await device.texts() == ["milk": "milk"])
            #expect(device.sync.state.lastError?.code == .storeFailure)
            try await device.insert("eggs")
            await system.advance(.milliseconds(1500))
            #expect(try await device.pending() == 0)
            system.server.write("list", ["name": .text("home")], in: "TodoList", isLate: false)
            await system.advance(.seconds(600))
            let lists = try await system.perform { try await device.context.table(TodoList.self).fetch() }
            #expect(lists.map(\.name) == ["home"])
            #expect(device.sync.state.lastError == nil)
        }
    }
}
