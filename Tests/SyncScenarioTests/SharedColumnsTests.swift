// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Two processes have one file open with different columns: an app, and a widget that does not declare all of the app's.
@Suite struct SharedColumnsTests {
    private static let appColumns = [Todo.text, Todo.priority]
    private static let widgetColumns = [Todo.text]

    /// Runs the body with a function that opens the file with these columns.
    private func run(
        _ body: (Scenario, _ open: ([SyncColumn]) throws -> Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            try await body(scenario) { columns in
                let table = SyncTableDefinition(Todo.name, columns: columns)
                return scenario.device(on: try scenario.sharedStore(tables: [table]))
            }
        }
    }

    /// Runs the body with an app that has edited a column of the item "1", and a widget that does not declare the column.
    /// Afterwards, the app agrees with the server.
    private func runWithEdit(
        _ body: (Scenario, _ app: Device, _ widget: Device) async throws -> Void
    ) async throws {
        try await run { scenario, open in
            let app = try open(Self.appColumns)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            try await app.table.update(id: "1", ["priority": 2])
            let widget = try open(Self.widgetColumns)
            try await body(scenario, app, widget)
            try await scenario.expectAgreement(app)
            try await app.context.close()
            try await widget.context.close()
        }
    }

    /// - Parameter isEditedBefore: whether the app has changed the column before the widget opens the file, too.
    @Test(arguments: [false, true])
    func `an edit that the app makes while a widget without its column is open is sent after a restart`(
        isEditedBefore: Bool
    ) async throws {
        try await run { scenario, open in
            var app = try open(Self.appColumns)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            if isEditedBefore { try await app.table.update(id: "1", ["priority": 2]) }
            let widget = try open(Self.widgetColumns)
            try await app.table.update(id: "1", ["priority": 3])
            try await app.context.close()

            app = try open(Self.appColumns)
            #expect(try await app.item("1")?["priority"] == 3)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 3])
            try await scenario.expectAgreement(app)
            try await app.context.close()
            try await widget.context.close()
        }
    }

    @Test(arguments: [3, nil])
    func `an edit is kept beside an earlier one of another column`(_ priority: Int64?) async throws {
        try await run { scenario, open in
            var app = try open(Self.appColumns)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            try await app.table.update(id: "1", ["text": "b"])
            let widget = try open(Self.widgetColumns)
            let value = priority.map(ItemValue.int) ?? .null
            try await app.table.update(id: "1", ["priority": value])
            try await app.context.close()

            app = try open(Self.appColumns)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": value])
            try await scenario.expectAgreement(app)
            try await app.context.close()
            try await widget.context.close()
        }
    }

    @Test func `an inserted item that the app changes while a widget is open is sent as it was changed`()
        async throws
    {
        try await run { scenario, open in
            var app = try open(Self.appColumns)
            try await app.table.insert(["id": "1", "text": "a", "priority": 2])
            let widget = try open(Self.widgetColumns)
            try await app.table.update(id: "1", ["priority": 3])
            try await app.context.close()

            app = try open(Self.appColumns)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 3])
            try await scenario.expectAgreement(app)
            try await app.context.close()
            try await widget.context.close()
        }
    }

    @Test func `a widget without a column of the app edits items, but cannot sync beside it`()
        async throws
    {
        try await runWithEdit { scenario, app, widget in
            try await scenario.server.put("2", ["text": "c", "priority": 3], in: Todo.name)
            try await widget.table.update(id: "1", ["text": "b"])
            await expectRefusal { try await widget.context.push() }
            await expectRefusal { try await widget.table.pull() }
            #expect(try await widget.item("1")?.fields == ["text": "b"])
            #expect(try await widget.item("2") == nil)
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 1])

            #expect(try await app.item("1")?.fields == ["text": "b", "priority": 2])
            try await app.sync()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 2])
            #expect(try await app.item("2")?["priority"] == 3)
        }
    }

    /// The push would have nothing to send, and remove the operation.
    @Test func `a push of a widget keeps an edit of a column that only the app declares`() async throws {
        try await runWithEdit { scenario, app, widget in
            await expectRefusal { try await widget.context.push() }
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 2])
        }
    }

    @Test func `a widget edits an item whose change the app is sending`() async throws {
        try await runWithEdit { scenario, app, widget in
            _ = try await scenario.push(app) { _ in
                try await widget.table.update(id: "1", ["text": "b"])
                try await widget.table.update(id: "1", ["text": "c"])
            }
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "c", "priority": 2])
        }
    }

    @Test func `a version of the app with another column in place of one syncs beside the one before`()
        async throws
    {
        try await run { scenario, open in
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            let former = try open(Self.appColumns)
            try await former.sync()
            let app = try open([Todo.text, SyncColumn("color", .text)])
            try await app.table.update(id: "1", ["color": "red"])
            await expectRefusal { try await former.context.push() }
            try await app.sync()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 1, "color": "red"])
            try await former.context.close()
            try await app.context.close()
        }
    }

    @Test func `a table that only the widget declares is synced by it`() async throws {
        try await Scenario.run(on: .sqlite, configure: { $0.tables.append(.init("Log")) }) { scenario in
            func open(_ columns: [SyncColumn], _ others: SyncTableDefinition...) throws -> SyncContext {
                let tables = [SyncTableDefinition(Todo.name, columns: columns)] + others
                let store = try scenario.sharedStore(tables: tables)
                return scenario.device(on: store).context
            }
            let app = try open(Self.appColumns)
            let widget = try open(
                Self.widgetColumns, SyncTableDefinition("Log", columns: [Todo.text]))
            try await widget.table("Log").insert(["id": "l", "text": "b"])
            #expect(try await widget.push().completed == 1)
            #expect(try scenario.server.rows(in: "Log").map(\.id) == ["l"])
            try await widget.close()
            try await app.close()
        }
    }

    @Test func `a process that was open before another has added a column can no longer sync`() async throws {
        try await run { scenario, open in
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            let widget = try open(Self.widgetColumns)
            try await widget.sync()
            try await widget.table.update(id: "1", ["text": "b"])
            let app = try open(Self.appColumns)
            try await widget.table.update(id: "1", ["text": "c"])
            await expectRefusal { try await widget.context.push() }
            #expect(try await app.item("1")?.fields == ["text": "c", "priority": 1])
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "c", "priority": 1])
            try await scenario.server.update("1", ["priority": 2], in: Todo.name)
            await expectRefusal { try await widget.table.pull() }
            try await app.sync()
            try await scenario.expectAgreement(app)
            try await widget.context.close()
            try await app.context.close()
        }
    }

    @Test func `processes without a column sync beside each other when none with it is open`()
        async throws
    {
        try await run { scenario, open in
            let former = try open(Self.appColumns)
            try await former.context.close()
            let app = try open(Self.widgetColumns)
            let widget = try open(Self.widgetColumns)
            try await app.table.insert(["id": "1", "text": "a"])
            try await widget.table.update(id: "1", ["text": "b"])
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b"])
            try await widget.context.close()
            try await app.context.close()
        }
    }

    private func expectRefusal(
        _ body: () async throws -> Void, _ location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: SyncError.self, sourceLocation: location) { try await body() }
        #expect(
            error?.description.contains("with other columns of the table 'TodoItem'") == true,
            sourceLocation: location)
    }

    @Test func `a widget does not pull a column of the app that the server spells in another case`()
        async throws
    {
        try await run { scenario, open in
            let app = try open(Self.appColumns)
            try await scenario.server.put("1", ["text": "a", "Priority": 7], in: Todo.name)
            try await app.sync()
            let widget = try open(Self.widgetColumns)
            try await scenario.server.update("1", ["Priority": 8], in: Todo.name)
            await expectError(.storeFailure) { try await widget.pullWithoutPush() }
            try await app.sync()
            #expect(try await app.item("1")?["priority"] == 8)
            try await app.context.close()
            try await widget.context.close()
        }
    }
}
