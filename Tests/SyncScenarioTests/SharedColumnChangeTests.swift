// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Changes that a process queues in one file with others, which declare other columns and send them.
@Suite struct SharedColumnChangeTests {
    private static let widgetColumns = [Todo.text]
    private static let appColumns = [Todo.text, Todo.priority, SyncColumn("mood", .text, isLocalOnly: true)]
    private static let nextColumns = [Todo.text, SyncColumn("color", .text)]
    private static let changes = [TableOperation.Kind.update, .delete]
    private static let dialects = [WireDialect.v2, .v3]

    /// Opens the file with these columns.
    private static func open(
        _ columns: [SyncColumn], in scenario: Scenario, dialect: WireDialect = .v2,
        settings: SyncSettings = SyncSettings()
    ) throws -> Device {
        let table = SyncTableDefinition(Todo.name, columns: columns)
        return scenario.device(
            on: try scenario.sharedStore(tables: [table]), settings: settings, dialect: dialect)
    }

    private func change(_ kind: TableOperation.Kind, in device: Device) async throws {
        if kind == .delete {
            try await device.table.delete(id: "1")
        } else {
            try await device.table.update(id: "1", ["text": "b"])
        }
    }

    @Test(arguments: changes, dialects)
    func `an app that discards the change of a widget has all columns of the item again`(
        _ kind: TableOperation.Kind, _ dialect: WireDialect
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario, dialect: dialect)
            let fields: [String: ItemValue] = ["text": "a", "priority": 1]
            try await scenario.server.put("1", fields, in: Todo.name)
            try await app.sync()
            try await app.table.update(id: "1", ["mood": "good"])
            let widget = try Self.open(Self.widgetColumns, in: scenario, dialect: dialect)
            try await change(kind, in: widget)
            try await widget.context.close()

            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await app.expectPushError()
            try await app.context.cancelAndDiscardItem(for: error)
            #expect(try await app.item("1")?.fields == fields.merging(["mood": "good"]) { $1 })
            try await app.table.update(id: "1", ["text": "c"])
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "c", "priority": 1])
            try await app.context.close()
        }
    }

    @Test(arguments: changes)
    func `an edit that the app makes beside the change of a widget is sent`(_ kind: TableOperation.Kind)
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await app.sync()
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            try await widget.table.update(id: "1", ["text": "b"])
            try await app.table.update(id: "1", ["priority": 2])
            try await change(kind, in: widget)
            try await widget.context.close()
            try await app.context.push()
            #expect(try scenario.serverTexts() == (kind == .delete ? [] : ["b"]))
            if kind == .update { #expect(try scenario.row("1")?.fields["priority"] == 2) }
            try await scenario.expectAgreement(app)
            try await app.context.close()
        }
    }

    @Test func `a change of a widget does not count as an edit of a column that another client has changed`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let settings = SyncSettings.resolving(.fieldMerge(onClash: .clientWins))
            let app = try Self.open(Self.appColumns, in: scenario, settings: settings)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            try await widget.table.update(id: "1", ["text": "b"])
            try await widget.context.close()
            try await scenario.server.update("1", ["priority": 2], in: Todo.name)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 2])
            try await scenario.expectAgreement(app)
            try await app.context.close()
        }
    }

    @Test(arguments: [true, false])
    func `an app has its local-only column again if it discards a deletion that another process has seen`(
        isOfApp: Bool
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            try await app.table.update(id: "1", ["mood": "good"])
            let other = try Self.open([Todo.text, Todo.priority], in: scenario)
            try await app.table.update(id: "1", ["text": "b"])
            // The process that sends the update merges the deletion with it.
            let (deleting, sending) = isOfApp ? (app, other) : (other, app)
            _ = try await scenario.push(sending, then: .refusal(400)) { _ in
                try await deleting.table.delete(id: "1")
            }
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await app.expectPushError()
            try await app.context.cancelAndDiscardItem(for: error)
            #expect(try await app.item("1")?.fields == ["text": "a", "priority": 1, "mood": "good"])
            try await other.context.close()
            try await app.context.close()
        }
    }

    @Test func `a widget without a column of the app cannot decide about a failed deletion`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            try await widget.table.delete(id: "1")
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await app.expectPushError()
            for kind in [TableOperation.Kind.update, .delete] {
                await expectError(.storeFailure) {
                    try await widget.context.changeKind(for: error, to: kind)
                }
            }
            try await app.context.changeKind(for: error, to: .update)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 1])
            try await scenario.expectAgreement(app)
            try await widget.context.close()
            try await app.context.close()
        }
    }

    @Test func `a change of an older copy in a widget is discarded with all columns`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            var copy = try #require(try await widget.item("1"))
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            try await app.sync()
            copy["text"] = "b"
            try await widget.table.replace(copy)
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await app.expectPushError()
            try await app.context.cancelAndDiscardItem(for: error)
            #expect(try await app.item("1")?.fields == ["text": "theirs", "priority": 1])
            try await app.table.update(id: "1", ["text": "c"])
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "c", "priority": 1])
            try await widget.context.close()
            try await app.context.close()
        }
    }

    @Test func `a widget cannot delete its insert if the server has a row with columns of the app`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            try await widget.table.insert(["id": "1", "text": "a"])
            try await scenario.server.put("1", ["text": "theirs", "priority": 5], in: Todo.name)
            try await app.pullWithoutPush()
            let error = await #expect(throws: SyncError.self) { try await widget.table.delete(id: "1") }
            #expect(error?.description.contains("with other columns of the table 'TodoItem'") == true)
            try await app.table.delete(id: "1")
            #expect(try await app.item("1")?.fields == ["text": "theirs", "priority": 5])
            try await widget.context.close()
            try await app.context.close()
        }
    }

    @Test func `a widget without a column of the app deletes an item that was never sent`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try Self.open(Self.appColumns, in: scenario)
            try await app.table.insert(["id": "2", "text": "a", "priority": 1])
            let widget = try Self.open(Self.widgetColumns, in: scenario)
            try await widget.table.insert(["id": "1", "text": "a"])
            for id in ["1", "2"] { try await widget.table.delete(id: id) }
            #expect(try await app.operations().isEmpty)
            try await scenario.expectAgreement(app)
            try await widget.context.close()
            try await app.context.close()
        }
    }

    private static let row: [String: ItemValue] = ["text": "a", "priority": 1, "color": "red"]

    /// Opens the file with another column in place of one, after which the version of the app before changes the item "1".
    private func openAfterChange(
        _ kind: TableOperation.Kind, in scenario: Scenario, dialect: WireDialect = .v2,
        settings: SyncSettings = SyncSettings()
    ) async throws -> Device {
        try await scenario.server.put("1", Self.row, in: Todo.name)
        let former = try Self.open(Self.appColumns, in: scenario, dialect: dialect)
        try await former.sync()
        let app = try Self.open(Self.nextColumns, in: scenario, dialect: dialect, settings: settings)
        try await change(kind, in: former)
        try await former.context.close()
        return app
    }

    @Test(arguments: changes, dialects)
    func `an app with another column in place of one discards a change of the version before`(
        _ kind: TableOperation.Kind, _ dialect: WireDialect
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try await openAfterChange(kind, in: scenario, dialect: dialect)

            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await app.expectPushError()
            try await app.context.cancelAndDiscardItem(for: error)
            #expect(try await app.item("1")?.fields == ["text": "a", "color": "red"])
            try await app.table.update(id: "1", ["text": "c"])
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == Self.row.merging(["text": "c"]) { $1 })
            try await app.context.close()
        }
    }

    @Test(arguments: [true, false])
    func `an app with another column in place of one merges a change of the version before`(
        _ isPulled: Bool
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try await openAfterChange(
                .update, in: scenario, settings: .resolving(.fieldMerge(onClash: .clientWins)))
            try await scenario.server.update("1", ["priority": 2, "color": "blue"], in: Todo.name)
            if isPulled { try await app.pullWithoutPush() }
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 2, "color": "blue"])
            try await app.sync()
            #expect(try await app.item("1")?.fields == ["text": "b", "color": "blue"])
            try await app.context.close()
        }
    }

    @Test func `an app with another column in place of one keeps an item that the version before deleted`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let app = try await openAfterChange(.delete, in: scenario)
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            let error = try await app.expectPushError()
            try await app.context.changeKind(for: error, to: .update)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == Self.row)
            try await app.sync()
            #expect(try await app.item("1")?.fields == ["text": "a", "color": "red"])
            try await app.context.close()
        }
    }
}
