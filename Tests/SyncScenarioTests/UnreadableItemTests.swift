// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// A value of another type that the app has written to its own table concerns its item only.
@Suite struct UnreadableItemTests {
    @Test func `an unreadable item in conflict does not end pushes and pulls`() async throws {
        try await MigratedApp.run { app in
            let device = try app.open(settings: .singleAttempt)
            for id in ["x", "y"] { try await app.scenario.server.put(id, ["text": "a"], in: Todo.name) }
            try await device.sync()
            try await device.table.delete(id: "x")
            app.scenario.server.inject(.refusal(500), when: \.isWrite)
            _ = await device.pushErrors()
            try await device.table.insert(["id": "x", "text": "again"])
            try await app.scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            #expect(await device.expectPushErrors().map(\.isConflict) == [true, false])
            try await app.migrate("UPDATE TodoItem SET priority = 'high' WHERE id = 'x'")
            try await device.table.update(id: "y", ["text": "b"])
            #expect(await device.expectPushErrors().map(\.itemID) == ["x", "x"])
            #expect(try app.scenario.row("y")?.fields["text"] == "b")
            try await app.scenario.server.put("z", ["text": "c"], in: Todo.name)
            try await device.context.pull(Todo.query, queryID: "all")
            #expect(try await device.item("z")?["text"] == "c")
            #expect(try await device.context.status().conflictingOperations == 1)
            try await device.context.close()
        }
    }

    @Test func `an unreadable item whose row has changed does not end a pull with a resolver`() async throws {
        try await MigratedApp.run { app in
            let device = try app.open(settings: .resolving(.clientWins))
            try await app.scenario.server.put("x", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "ours"])
            try await app.migrate("UPDATE TodoItem SET priority = 'high' WHERE id = 'x'")
            try await app.scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            app.scenario.server.clock.advance(by: .seconds(1))
            try await app.scenario.server.put("y", ["text": "b"], in: Todo.name)
            var pages = PullSettings.withoutPush
            pages.pageSize = 1
            try await device.context.pull(Todo.query, queryID: "all", settings: pages)
            #expect(try await device.item("y")?["text"] == "b")
            #expect(try await device.operations().map { $0.serverItem?["text"] } == ["theirs"])
            try await app.migrate("UPDATE TodoItem SET priority = 1 WHERE id = 'x'")
            try await device.context.push()
            #expect(try app.scenario.row("x")?.fields["text"] == "ours")
            try await device.context.close()
        }
    }

    @Test func `plannedRequests leaves out an unreadable item only`() async throws {
        try await MigratedApp.run { app in
            let device = try app.open(settings: .singleAttempt)
            for id in ["x", "y"] { try await device.table.insert(["id": .text(id), "text": "a"]) }
            try await app.migrate("UPDATE TodoItem SET priority = 'high' WHERE id = 'x'")
            #expect(try await device.context.plannedRequests().map(\.itemID) == ["y"])
            try await device.context.close()
        }
    }

    @Test func `discarding a change replaces an unreadable item by the server's row`() async throws {
        try await MigratedApp.run { app in
            let device = try app.open(settings: .singleAttempt)
            try await app.scenario.server.put("x", ["text": "a", "priority": 1], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "ours"])
            try await app.scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let conflict = try await device.expectPushError()
            try await app.migrate("UPDATE TodoItem SET priority = 'high' WHERE id = 'x'")
            try await device.context.cancelAndDiscardItem(for: conflict)
            let item = try #require(try await device.item("x"))
            #expect(item["text"] == "theirs" && item["priority"] == 1)
            try await device.context.close()
        }
    }

    /// The server has added a column without a new version.
    @Test func `a row with a new column and an unreadable item does not end a pull`() async throws {
        try await MigratedApp.run { app in
            let device = try await app.open(withRows: ["x"], ["text": "a"])
            try await device.table.update(id: "x", ["text": "ours"])
            try await app.migrate("UPDATE TodoItem SET priority = 'high' WHERE id = 'x'")
            app.scenario.server.onRequest { _ in .editFields { $0["extra"] = 1 } }
            app.scenario.server.clock.advance(by: .seconds(1))
            try await app.scenario.server.put("y", ["text": "b"], in: Todo.name)
            try await device.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await device.item("y")?["text"] == "b")
            try await app.migrate("UPDATE TodoItem SET priority = NULL WHERE id = 'x'")
            try await device.context.push()
            #expect(try app.scenario.row("x")?.fields["text"] == "ours")
            try await device.context.close()
        }
    }

    // No row of the server replaces a value of a local-only column.

    @Test func `an unreadable local-only value concerns the push of its item only`() async throws {
        try await MigratedApp.run { app in
            let tables = [
                SyncTableDefinition(Todo.name, columns: [Todo.text, Todo.note]),
                SyncTableDefinition("Other", columns: [Todo.text]),
            ]
            let store = try SQLiteStore(database: app.database, tables: tables)
            let device = app.scenario.device(on: store, settings: .singleAttempt)
            for id in ["x", "y"] { try await app.scenario.server.put(id, ["text": "a"], in: Todo.name) }
            try await device.sync()
            for id in ["x", "y"] { try await device.table.update(id: id, ["text": "b"]) }
            try await app.migrate("UPDATE TodoItem SET note = x'00' WHERE id = 'x'")
            let error = try await device.expectPushError()
            #expect(error.itemID == "x" && error.code == .storeFailure)
            #expect(try app.scenario.serverTexts() == ["a", "b"])
            #expect(try await device.operations().map(\.itemID) == ["x"])
            try await app.scenario.server.put("z", ["text": "c"], in: "Other")
            let result = try await device.context.pull(TableQuery("Other"))
            #expect(result.upserted == 1 && result.pushErrors.map(\.itemID) == ["x"])
            #expect(try await device.context.status().pendingOperations == 1)
            try await app.migrate("UPDATE TodoItem SET note = NULL WHERE id = 'x'")
            try await device.context.push()
            #expect(try app.scenario.serverTexts() == ["b", "b"])
            try await device.context.close()
        }
    }

    /// The status shows the error for the item as it is now.
    @Test func `an unreadable local-only value of an edited item in conflict does not end the status`()
        async throws
    {
        try await MigratedApp.run { app in
            let device = try app.open([Todo.text, Todo.note], settings: .singleAttempt)
            try await app.scenario.server.put("x", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "ours"])
            try await app.scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            #expect(try await device.expectPushError().isConflict)
            try await device.table.update(id: "x", ["text": "ours again"])
            try await app.migrate("UPDATE TodoItem SET note = x'00' WHERE id = 'x'")
            #expect(try await device.context.status().conflictingOperations == 1)
            #expect(await device.expectPushErrors().map(\.itemID) == ["x"])
            #expect(try await device.context.status().conflictingOperations == 1)
            try await device.context.close()
        }
    }

    @Test func `a pull removes an item with an unreadable local-only value, but does not replace it`()
        async throws
    {
        try await MigratedApp.run { app in
            let device = try app.open([Todo.text, Todo.note])
            for id in ["x", "y"] { try await app.scenario.server.put(id, ["text": "a"], in: Todo.name) }
            try await device.sync()
            try await app.migrate("UPDATE TodoItem SET note = x'00' WHERE id = 'x'")
            try await app.scenario.server.update("x", ["text": "b"], in: Todo.name)
            await expectError(.storeFailure) { try await device.pullWithoutPush() }
            await expectError(.storeFailure) { _ = try await device.item("x") }
            try await app.scenario.server.remove("x", in: Todo.name)
            try await app.scenario.server.update("y", ["text": "b"], in: Todo.name)
            let result = try await device.pullWithoutPush()
            #expect(result.deleted == 1 && result.upserted == 1)
            #expect(try await device.texts() == ["b"])
            try await device.context.close()
        }
    }
}
