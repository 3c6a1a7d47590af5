// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// The app's own database removes items that have pending changes.
@Suite
struct MissingItemTests {
    private static let cascade = """
        DROP TABLE TodoItem;
        CREATE TABLE TodoItem(
            id TEXT PRIMARY KEY, text TEXT, parent TEXT REFERENCES TodoItem ON DELETE CASCADE)
        """

    @Test func `a change of an item that a foreign key has removed with its parent is no completed change`()
        async throws
    {
        try await MigratedApp.run { app in
            try await app.migrate(Self.cascade)
            let (server, clock) = (app.scenario.server, app.scenario.server.clock)
            try await server.put("parent", ["text": "a"], in: Todo.name)
            clock.advance(by: .seconds(1))
            let children = ["edited", "discarded"]
            for id in children { try await server.put(id, ["text": "a", "parent": "parent"], in: Todo.name) }
            let device = try app.open([Todo.text, SyncColumn("parent", .text)])
            try await device.sync()
            for id in children { try await device.table.update(id: id, ["text": "b"]) }
            try await device.table.insert(["id": "new", "text": "c", "parent": "parent"])
            try await server.remove("parent", in: Todo.name)
            try await device.table.pull(Todo.query, queryID: "all", settings: .withoutPush)
            #expect(try await device.texts().isEmpty)

            for _ in 0..<2 {
                let errors = await device.expectPushErrors()
                #expect(errors.map(\.itemID).sorted() == ["discarded", "edited", "new"])
                #expect(errors.allSatisfy { $0.code == .expectedItem && $0.message.contains("foreign key") })
            }
            #expect(try await device.context.plannedRequests().isEmpty)
            #expect(try app.scenario.row("edited")?.fields["text"] == "a")
            for error in await device.expectPushErrors() {
                if error.itemID == "edited" {
                    try await device.context.changeKind(for: error, to: .delete)
                } else {
                    try await device.context.cancelAndDiscardItem(for: error)
                }
            }
            try await device.context.push()
            #expect(try app.scenario.row("edited")?.deleted == true)
            #expect(try app.scenario.row("discarded")?.fields["text"] == "a")
            #expect(try app.scenario.row("new") == nil)
            try await device.context.close()
        }
    }

    @Test func `a change is sent as a deletion when the app queues the deletion after a push`() async throws {
        try await MigratedApp.run { app in
            let device = try await app.open(withRows: ["1"], ["text": "a"])
            try await device.table.update(id: "1", ["text": "b"])
            try await device.table.insert(["id": "2", "text": "c"])
            let items = [try #require(try await device.item("1")), try #require(try await device.item("2"))]
            try await app.migrate("DELETE FROM TodoItem")
            #expect(await device.expectPushErrors().map(\.code) == [.expectedItem, .expectedItem])
            try await device.context.enqueueExternalChanges(in: Todo.name, deleted: items)
            try await device.context.push()
            #expect(try app.scenario.row("1")?.deleted == true)
            #expect(try app.scenario.row("2") == nil)
            #expect(try await device.context.operationErrors().isEmpty)
            try await device.context.close()
        }
    }
}
