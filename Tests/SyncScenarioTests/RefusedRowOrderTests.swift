// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreSQLite
import SyncCore
import TableServer
import Testing

/// The app's table refuses rows in the order of the server, and takes them in another one.
@Suite struct RefusedRowOrderTests {
    /// Runs the body with a table that the app has created so, and its pulls.
    private func run(
        _ table: String, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await MigratedApp.run { app in
            try await app.migrate("DROP TABLE TodoItem; CREATE TABLE TodoItem(id TEXT PRIMARY KEY, \(table))")
            let device = try app.open([Todo.text, SyncColumn("parent", .text)])
            try await body(app.scenario, device)
            try await device.context.close()
        }
    }

    @Test func `a row whose parent has changed later is stored with it`() async throws {
        try await run("text TEXT, parent TEXT REFERENCES TodoItem(id)") { scenario, device in
            try await scenario.server.put("a", ["text": "old"], in: Todo.name)
            for (id, parent) in [("c", "b"), ("b", "a")] {
                scenario.server.clock.advance(by: .seconds(1))
                try await scenario.server.put(
                    id, ["text": .text(id), "parent": .text(parent)], in: Todo.name)
            }
            scenario.server.clock.advance(by: .seconds(1))
            try await scenario.server.update("a", ["text": "new"], in: Todo.name)
            try await device.sync()
            #expect(try await device.texts() == ["b", "c", "new"])
        }
    }

    @Test func `a unique value can move from one row to another`() async throws {
        try await run("text TEXT UNIQUE, parent TEXT") { scenario, device in
            try await scenario.server.put("a", ["text": "x"], in: Todo.name)
            try await device.sync()
            for (id, text) in [("a", "y"), ("b", "x"), ("a", "z")] {
                scenario.server.clock.advance(by: .seconds(1))
                try await scenario.server.put(id, ["text": .text(text)], in: Todo.name)
            }
            try await device.sync()
            #expect(try await device.texts() == ["x", "z"])
        }
    }

    @Test func `a page with a row that is refused in any order is not stored`() async throws {
        try await run("text TEXT NOT NULL, parent TEXT") { scenario, device in
            try await scenario.server.put("a", ["text": .null], in: Todo.name)
            try await scenario.server.put("b", ["text": "b"], in: Todo.name)
            let error = await expectError(.storeFailure) { try await device.pullWithoutPush() }
            let cause = try #require(error?.cause as? StoreError)
            #expect(cause.message.contains("'a'"))
            #expect(try await device.texts().isEmpty)
        }
    }
}
