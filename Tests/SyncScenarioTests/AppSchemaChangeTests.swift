// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// An app changes its own table between two openings of the store.
@Suite struct AppSchemaChangeTests {
    private typealias SyncColumn = SyncCore.SyncColumn

    @Test(arguments: MigratedApp.losses, [WireDialect.v2, .v3])
    func `a value that a migration has removed stays on the server`(
        _ migration: String, _ dialect: WireDialect
    )
        async throws
    {
        try await MigratedApp.run(dialect) { app in
            var device = try await app.open(
                withRows: ["edited", "plain"], ["text": "a", "priority": 1, "color": "red"])
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open()
            #expect(try await device.item("edited")?["priority"] == 1)
            try await device.table.update(id: "plain", ["text": "b"])
            try await device.context.push()
            let expected: [String: ItemValue] = ["text": "b", "priority": 1, "color": "red"]
            for id in ["edited", "plain"] { #expect(try app.scenario.row(id)?.fields == expected) }
            try await device.sync()
            #expect(try await device.operations().isEmpty)
            for id in ["edited", "plain"] {
                let item = try #require(try await device.item(id))
                #expect(item.fields == ["text": "b", "priority": 1])
                #expect(item.system.undeclared == ["color": "red"])
            }
            try await device.context.close()
        }
    }

    /// The two texts are canonically equivalent.
    @Test func `the values that operations know are those of rows with exactly their ids`() async throws {
        try await MigratedApp.run { app in
            var device = try app.open()
            let ids = ["\u{e9}", "e\u{301}"]
            for (number, id) in ids.enumerated() {
                try await app.scenario.server.put(
                    id, ["text": "a", "priority": .int(Int64(number))], in: Todo.name)
            }
            try await device.sync()
            for id in ids { try await device.table.update(id: id, ["text": "b"]) }
            try await device.context.close()
            try await app.migrate(
                "ALTER TABLE TodoItem DROP COLUMN priority; ALTER TABLE TodoItem ADD COLUMN priority INTEGER")

            device = try app.open()
            for (number, id) in ids.enumerated() {
                #expect(try await device.item(id)?["priority"] == .int(Int64(number)))
            }
            try await device.sync()
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: MigratedApp.losses)
    func `an unsent edit of a value that a migration has removed does not remove the server's`(
        _ migration: String
    ) async throws {
        try await MigratedApp.run { app in
            var device = try app.open(settings: .singleAttempt)
            try await app.scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 2])
            app.scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await device.context.push() }
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open()
            try await device.context.push()
            #expect(try app.scenario.row("1")?.fields == ["text": "a", "priority": 2])
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3])
    func `a value that was removed while its column was not declared stays on the server`(
        _ dialect: WireDialect
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try await app.open(withRows: ["edited", "plain"], ["text": "a", "priority": 1])
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.context.close()
            try await app.migrate("ALTER TABLE TodoItem DROP COLUMN priority")
            device = try app.open([Todo.text])
            try await device.context.close()

            device = try app.open()
            try await device.table.update(id: "plain", ["text": "b"])
            try await device.context.push()
            for id in ["edited", "plain"] {
                #expect(try app.scenario.row(id)?.fields == ["text": "b", "priority": 1])
            }
            try await device.sync()
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: [
        ("ALTER TABLE TodoItem DROP COLUMN priority", [Todo.text]),
        (
            "ALTER TABLE TodoItem RENAME COLUMN priority TO rank",
            [Todo.text, SyncCore.SyncColumn("rank", .integer)]
        ),
    ])
    func `a request that replaces the row keeps a column that the app has dropped or renamed`(
        _ migration: String, _ columns: [SyncCore.SyncColumn]
    ) async throws {
        try await MigratedApp.run(.v3) { app in
            var device = try await app.open(
                withRows: ["edited", "plain", "changed"], ["text": "a", "priority": 1])
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open(columns)
            try await device.table.update(id: "plain", ["text": "b"])
            try await device.table.update(id: "changed", ["text": "b"])
            try await app.scenario.server.update("changed", ["priority": 2], in: Todo.name)
            let error = try await device.expectPushError()
            #expect(error.isConflict)
            #expect(error.itemID == "changed")
            for (id, priority) in [("edited", 1), ("plain", 1), ("changed", 2)] {
                #expect(try app.scenario.row(id)?.fields["priority"] == .int(Int64(priority)))
            }
            // The response has the row's undeclared columns.
            let count = app.scenario.server.requests.count
            try await device.table.update(id: "plain", ["text": "c"])
            _ = try await device.expectPushError()
            let requests = app.scenario.server.requests.dropFirst(count).filter { $0.itemID == "plain" }
            #expect(requests.map(\.method) == ["PUT"])
            #expect(try app.scenario.row("plain")?.fields["priority"] == 1)
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3], ["", ", createdAt"])
    func `a table that was rebuilt without the system columns conflicts only with changes of others`(
        _ dialect: WireDialect, _ kept: String
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try app.open()
            let ids = ["pending", "edited", "deleted", "changed", "plain"]
            for id in ids {
                try await app.scenario.server.put(
                    id, ["text": "a", "priority": 1, "color": "red"], in: Todo.name)
                app.scenario.server.clock.advance(by: .seconds(60))
            }
            try await device.sync()
            try await device.table.update(id: "pending", ["text": "b"])
            try await device.context.close()
            try await app.migrate(
                MigratedApp.rebuilding(
                    "text TEXT, priority INTEGER\(kept)", copying: "text, priority\(kept)"))

            device = try app.open()
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.table.delete(id: "deleted")
            try await device.table.update(id: "changed", ["text": "b"])
            try await app.scenario.server.update("changed", ["priority": 2], in: Todo.name)
            let error = try await device.expectPushError()
            #expect(error.isConflict)
            #expect(error.itemID == "changed")
            let expected: [String: ItemValue] = ["text": "b", "priority": 1, "color": "red"]
            for id in ["pending", "edited"] { #expect(try app.scenario.row(id)?.fields == expected) }
            #expect(try app.scenario.row("deleted")?.deleted == true)
            #expect(try app.scenario.row("changed")?.fields["text"] == "a")

            try await device.context.cancelAndDiscardItem(for: error)
            try await device.sync()
            for id in ["pending", "edited", "changed", "plain"] {
                let (item, row) = (try #require(try await device.item(id)), try app.scenario.row(id))
                #expect(item.system.version == row?.version)
                #expect(item.fields.merging(item.system.undeclared) { $1 } == row?.fields)
            }
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3], ["", ", createdAt, updatedAt"])
    func `a rebuilt table with system columns that were not copied overwrites no change of others`(
        _ dialect: WireDialect, _ copied: String
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            let fields: [String: ItemValue] = ["text": "a", "priority": 1, "color": "red"]
            var device = try await app.open(withRows: ["edited", "changed", "deleted"], fields)
            try await device.context.close()
            try await app.migrate(
                MigratedApp.rebuilding(
                    "text TEXT, priority INTEGER, \(MigratedApp.systemColumns)",
                    copying: "text, priority\(copied)"))

            device = try app.open()
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.table.update(id: "changed", ["text": "b"])
            try await device.table.delete(id: "deleted")
            for id in ["changed", "deleted"] {
                try await app.scenario.server.update(id, ["priority": 2], in: Todo.name)
            }
            let errors = await device.expectPushErrors()
            #expect(errors.map(\.itemID).sorted() == ["changed", "deleted"])
            #expect(errors.allSatisfy { $0.isConflict && $0.serverItem?["priority"] == 2 })
            #expect(try app.scenario.row("edited")?.fields == fields.merging(["text": "b"]) { $1 })
            try await device.context.close()
        }
    }

    @Test func `rows of the server stay that when a table was rebuilt without the system columns`()
        async throws
    {
        try await MigratedApp.run { app in
            var device = try await app.open(withRows: ["changed", "deleted", "plain"], ["text": "a"])
            try await device.context.close()
            try await app.migrate(
                MigratedApp.rebuilding("text TEXT, priority INTEGER", copying: "text, priority"))
            device = try app.open()
            try await app.migrate("INSERT INTO TodoItem(id, text) VALUES ('new', 'a')")
            for id in ["changed", "deleted", "plain"] {
                try await app.scenario.server.update(id, ["text": "theirs"], in: Todo.name)
            }
            #expect(try await device.context.enqueueExisting(Todo.query) == 1)
            let deleted = try #require(try await device.item("deleted"))
            try await app.migrate(
                "UPDATE TodoItem SET text = 'b' WHERE id = 'changed'; DELETE FROM TodoItem WHERE id = 'deleted'"
            )
            try await device.context.enqueueExternalChanges(
                in: Todo.name, changed: ["changed"], deleted: [deleted])
            #expect(try await device.operations().map(\.kind) == [.insert, .update, .delete])
            let errors = await device.expectPushErrors()
            #expect(errors.map(\.itemID).sorted() == ["changed", "deleted"])
            #expect(errors.allSatisfy { $0.isConflict && $0.serverItem?["text"] == "theirs" })
            #expect(try app.scenario.serverTexts() == ["a", "theirs", "theirs", "theirs"])
            try await device.context.close()
        }
    }

    @Test func `a request that replaces the row keeps undeclared columns that a migration has not copied`()
        async throws
    {
        try await MigratedApp.run(.v3) { app in
            var device = try await app.open(withRows: ["pending", "edited"], ["text": "a", "color": "red"])
            try await device.table.update(id: "pending", ["text": "b"])
            try await device.context.close()
            let copied = "text, priority, createdAt, updatedAt, version"
            try await app.migrate(MigratedApp.rebuilding(copied, copying: copied))

            device = try app.open()
            try await device.table.update(id: "edited", ["text": "b"])
            try await device.context.push()
            for id in ["pending", "edited"] {
                #expect(try app.scenario.row(id)?.fields == ["text": "b", "color": "red"])
            }
            try await device.context.close()
        }
    }

    @Test(arguments: ["DELETE FROM TodoItem", ""])
    func `the rows of a table that was dropped and created again are pulled again`(_ deletion: String)
        async throws
    {
        try await MigratedApp.run { app in
            var device = try app.open()
            // The delta token is past the first row.
            for id in ["1", "2"] {
                try await app.scenario.server.put(id, ["text": "a", "priority": 1], in: Todo.name)
                app.scenario.server.clock.advance(by: .seconds(60))
            }
            try await device.sync()
            // An unsent change is lost with the table.
            if deletion.isEmpty { try await device.table.update(id: "2", ["text": "b"]) }
            try await device.context.close()
            try await app.migrate(
                deletion.isEmpty
                    ? "DROP TABLE TodoItem"
                    : "\(deletion); \(MigratedApp.rebuilding("text TEXT, priority INTEGER", copying: "text"))"
            )
            device = try app.open()
            try await device.sync()
            #expect(try await device.item("1")?["priority"] == 1)
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3])
    func `a column with another type is no edit, and an edit of it is sent`(_ dialect: WireDialect)
        async throws
    {
        try await MigratedApp.run(dialect) { app in
            var device = try app.open()
            for id in ["other", "later"] {
                try await app.scenario.server.put(id, ["text": "a", "priority": "1"], in: Todo.name)
            }
            // The server has strings, which this version of the app could not read, and some integers.
            try await app.scenario.server.put("other", ["text": "a", "priority": 1], in: Todo.name)
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "other", ["text": "b"])
            try await device.context.close()
            try await app.migrate(
                MigratedApp.rebuilding(
                    "text TEXT, priority TEXT, \(MigratedApp.systemColumns)",
                    copying: "text, priority, \(MigratedApp.systemColumns)"))

            let columns = [Todo.text, SyncColumn("priority", .text)]
            device = try app.open(columns)
            #expect(try await device.item("other")?["priority"] == "1")
            try await device.context.push()
            #expect(try app.scenario.row("other")?.fields["text"] == "b")
            if dialect == .v2 { #expect(try app.scenario.row("other")?.fields["priority"] == 1) }
            try await device.context.pull(Todo.query)
            try await device.table.update(id: "later", ["priority": "2"])
            try await device.context.push()
            #expect(try app.scenario.row("later")?.fields["priority"] == "2")
            try await device.context.close()
        }
    }

    private static let textual = MigratedApp.rebuilding(
        "text TEXT, priority TEXT, \(MigratedApp.systemColumns)",
        copying: "text, priority, \(MigratedApp.systemColumns)")

    @Test(arguments: [
        (
            ColumnType.integer, ItemValue.int(1), ItemValue.int(5), ColumnType.text, textual,
            ItemValue.text("5")
        ),
        (.integer, 1, nil, .text, textual, nil),
        (.bool, false, true, .integer, "", 1),
        (.bool, true, nil, .integer, "", nil),
        (.bool, false, true, .double, "", 1.0),
    ])
    func `an edit is sent although its column has another type since`(
        type: ColumnType, old: ItemValue, edited: ItemValue, newType: ColumnType, migration: String,
        sent: ItemValue
    ) async throws {
        try await MigratedApp.run { app in
            try await app.scenario.server.put("x", ["text": "a", "priority": old], in: Todo.name)
            try await app.scenario.server.put("same", ["text": "a", "priority": old], in: Todo.name)
            var device = try app.open([Todo.text, SyncColumn("priority", type)])
            try await device.sync()
            try await device.table.update(id: "x", ["priority": edited])
            try await device.table.update(id: "same", ["text": "b"])
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open([Todo.text, SyncColumn("priority", newType)])
            #expect(try await device.context.push().completed == 2)
            #expect(try app.scenario.row("x")?.fields["priority"] == sent)
            #expect(try app.scenario.row("same")?.fields == ["text": "b", "priority": old])
            try await device.context.close()
        }
    }
}
