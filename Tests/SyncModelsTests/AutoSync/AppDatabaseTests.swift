// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncModels
import TestSupport
import Testing

@testable import SyncSimulation

/// Automatic syncs of stores in a database of the app.
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
