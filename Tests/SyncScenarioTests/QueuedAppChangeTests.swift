// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// An app changes rows with SQL and queues the changes, before or after a migration of the table.
@Suite struct QueuedAppChangeTests {
    @Test(arguments: MigratedApp.losses, [WireDialect.v2, .v3])
    func `a change of the app itself does not send what a migration has left`(
        _ migration: String, _ dialect: WireDialect
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try await app.open(withRows: ["1", "2"], ["text": "a", "priority": 1])
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open()
            try await app.migrate(
                """
                UPDATE TodoItem SET text = 'b' WHERE id = '1';
                UPDATE TodoItem SET text = 'b', priority = 5 WHERE id = '2'
                """)
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1", "2"])
            try await device.context.push()
            #expect(try app.scenario.row("1")?.fields == ["text": "b", "priority": 1])
            #expect(try app.scenario.row("2")?.fields == ["text": "b", "priority": 5])
            try await device.sync()
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: MigratedApp.losses, [WireDialect.v2, .v3])
    func `a change that the app has queued before a migration does not send what it has left`(
        _ migration: String, _ dialect: WireDialect
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try await app.open(withRows: ["1"], ["text": "a", "priority": 1])
            try await app.migrate("UPDATE TodoItem SET text = 'b' WHERE id = '1'")
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.close()
            try await app.migrate(migration)

            device = try app.open()
            try await device.context.push()
            #expect(try app.scenario.row("1")?.fields == ["text": "b", "priority": 1])
            try await device.sync()
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3])
    func `a change that the app has queued keeps the value of a column that is declared later`(
        _ dialect: WireDialect
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try app.open([Todo.text])
            try await app.scenario.server.put("1", ["text": "a", "color": "red"], in: Todo.name)
            try await device.sync()
            try await app.migrate("UPDATE TodoItem SET text = 'b' WHERE id = '1'")
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.close()

            device = try app.open([Todo.text, SyncCore.SyncColumn("color", .text)])
            #expect(try await device.item("1")?["color"] == "red")
            try await device.context.push()
            #expect(try app.scenario.row("1")?.fields == ["text": "b", "color": "red"])
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: [WireDialect.v2, .v3], [true, false])
    func `a change of a row with the app's own times does not overwrite a row that was not received`(
        _ dialect: WireDialect, _ isDelete: Bool
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            let device = try app.open()
            try await app.migrate(
                "INSERT INTO TodoItem(id, text, createdAt, updatedAt) VALUES ('1', 'a', '2025-01-31', '2025-01-31')"
            )
            try await app.scenario.server.put("1", ["text": "theirs"], in: Todo.name)
            if isDelete {
                try await device.table.delete(id: "1")
            } else {
                try await device.table.update(id: "1", ["text": "b"])
            }
            let error = try await device.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try app.scenario.serverTexts() == ["theirs"])
            try await device.context.close()
        }
    }

    /// In v2 the change has no base, so that a row that the server has changed is a conflict.
    @Test(arguments: [(ServerFault.dropRequest, WireDialect.v2), (.dropRequest, .v3), (.dropAnswer, .v3)])
    func `a change of the app leaves what an attempt has sent of a column that is no longer declared`(
        _ fault: ServerFault, _ dialect: WireDialect
    ) async throws {
        try await MigratedApp.run(dialect) { app in
            var device = try await app.open(withRows: ["1"], ["text": "a", "priority": 1])
            try await device.context.close()
            device = try app.open(settings: .singleAttempt)
            try await device.table.update(id: "1", ["priority": 2])
            app.scenario.server.inject(fault, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await device.context.push() }
            try await device.context.close()

            device = try app.open([Todo.text])
            try await app.migrate("UPDATE TodoItem SET text = 'b' WHERE id = '1'")
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.close()
            device = try app.open()
            try await device.context.push()
            #expect(try app.scenario.row("1")?.fields == ["text": "b", "priority": 2])
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }
}
