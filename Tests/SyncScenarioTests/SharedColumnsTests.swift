// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
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
            let path = scenario.directory.appendingPathComponent("shared.sqlite").path
            try await body(scenario) { columns in
                let table = SyncTableDefinition(Todo.name, columns: columns)
                return scenario.device(on: try SQLiteStore(path: path, tables: [table], sharing: .shared))
            }
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

    @Test func `a value that the widget has pulled replaces the app's older one`() async throws {
        try await run { scenario, open in
            var app = try open(Self.appColumns)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await app.sync()
            let widget = try open(Self.widgetColumns)
            try await scenario.server.update("1", ["priority": 2], in: Todo.name)
            try await widget.sync()
            try await widget.table.update(id: "1", ["text": "b"])
            try await app.context.close()

            app = try open(Self.appColumns)
            #expect(try await app.item("1")?["priority"] == 2)
            try await app.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 2])
            try await app.context.close()
            try await widget.context.close()
        }
    }
}
