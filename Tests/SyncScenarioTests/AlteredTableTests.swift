// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// An app alters its own table, which has constraints, between two openings of the store.
@Suite struct AlteredTableTests {
    /// Runs the body with the app's database, and a function that opens the store on it.
    private func run(
        _ body: (Scenario, DatabasePool, _ open: () throws -> Device) async throws -> Void
    ) async throws {
        let columns = [Todo.text, SyncCore.SyncColumn("done", .bool)]
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("app.sqlite").path
            let database = try DatabasePool(path: path)
            try await migrate(
                """
                CREATE TABLE TodoItem(
                  id TEXT PRIMARY KEY, -- also the row's id on the server, (a text)
                  text TEXT, done BOOLEAN NOT NULL DEFAULT 0, legacy INTEGER,
                  CHECK (length(text) < 100), UNIQUE (text, id))
                """, database)
            try await body(scenario, database) {
                let table = SyncTableDefinition(Todo.name, columns: columns)
                return scenario.device(on: try SQLiteStore(database: database, tables: [table]))
            }
            try database.close()
        }
    }

    private func migrate(_ sql: String, _ database: DatabasePool) async throws {
        try await database.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// After the edit, all rows have the default of the column, as they would if its values were gone.
    @Test(arguments: [
        "ALTER TABLE TodoItem ADD COLUMN color TEXT",
        """
        ALTER TABLE TodoItem ADD COLUMN color TEXT DEFAULT 'red, (dark)';
        ALTER TABLE TodoItem ADD COLUMN size INTEGER
        """,
        "ALTER TABLE TodoItem RENAME COLUMN legacy TO former",
        "ALTER TABLE TodoItem DROP COLUMN legacy",
    ])
    func `an unsent edit is kept when the app alters other columns`(_ migration: String) async throws {
        try await run { scenario, database, open in
            var device = try open()
            try await scenario.server.put("1", ["text": "a", "done": true], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["done": false])
            try await device.context.close()
            try await migrate(migration, database)

            device = try open()
            #expect(try await device.item("1")?["done"] == false)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["done"] == false)
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    /// The app's rebuild does not know the store's columns. The table has another column less, as after ALTER TABLE.
    @Test(arguments: [
        """
        ALTER TABLE TodoItem DROP COLUMN done;
        ALTER TABLE TodoItem ADD COLUMN done BOOLEAN NOT NULL DEFAULT 0
        """,
        """
        CREATE TABLE new_TodoItem(
          id TEXT PRIMARY KEY, -- also the row's id on the server, (a text)
          text TEXT, done BOOLEAN NOT NULL DEFAULT 0,
          CHECK (length(text) < 100), UNIQUE (text, id));
        INSERT INTO new_TodoItem(id, text) SELECT id, text FROM TodoItem;
        DROP TABLE TodoItem;
        ALTER TABLE new_TodoItem RENAME TO TodoItem
        """,
    ])
    func `a value that a migration has lost stays on the server`(_ migration: String) async throws {
        try await run { scenario, database, open in
            var device = try open()
            try await scenario.server.put("1", ["text": "a", "done": true], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.close()
            try await migrate(migration, database)

            device = try open()
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "done": true])
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }
}
