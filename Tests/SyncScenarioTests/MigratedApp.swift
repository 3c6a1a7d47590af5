// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TableServer

/// The app's database, and the devices that are opened on it one after the other.
struct MigratedApp {
    let scenario: Scenario
    let database: DatabasePool
    let dialect: WireDialect

    func open(
        _ columns: [SyncCore.SyncColumn] = [Todo.text, Todo.priority],
        settings: SyncSettings = SyncSettings()
    ) throws -> Device {
        let table = SyncTableDefinition(Todo.name, columns: columns)
        let store = try SQLiteStore(database: database, tables: [table])
        return scenario.device(on: store, settings: settings, dialect: dialect)
    }

    /// Opens the store, and pulls rows with these fields, which the server gets first.
    func open(withRows ids: [String], _ fields: [String: ItemValue]) async throws -> Device {
        for id in ids { try await scenario.server.put(id, fields, in: Todo.name) }
        let device = try open()
        try await device.sync()
        return device
    }

    func migrate(_ sql: String) async throws {
        try await database.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Opens a database with the app's own table, and runs the body.
    static func run(
        _ dialect: WireDialect = .v2, _ body: (MigratedApp) async throws -> Void
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("app.sqlite").path
            let app = MigratedApp(
                scenario: scenario, database: try DatabasePool(path: path), dialect: dialect)
            try await app.migrate("CREATE TABLE TodoItem(id TEXT PRIMARY KEY, text TEXT, priority INTEGER)")
            try await body(app)
            try app.database.close()
        }
    }

    /// Runs the body with lists and their entries in the app's database, and one of each on the server.
    static func runWithLists(
        settings: SyncSettings = SyncSettings(), _ body: (MigratedApp, Scenario, Device) async throws -> Void
    ) async throws {
        try await run { app in
            try await app.migrate(
                """
                CREATE TABLE List(id TEXT PRIMARY KEY, text TEXT);
                CREATE TABLE Entry(id TEXT PRIMARY KEY, list TEXT REFERENCES List(id) ON DELETE CASCADE)
                """)
            try await Scenario.run(
                on: .sqlite, configure: { $0.tables = ["List", "Entry"].map { .init($0) } }
            ) { scenario in
                let store = try SQLiteStore(
                    database: app.database,
                    tables: [
                        SyncTableDefinition("List", columns: [Todo.text]),
                        SyncTableDefinition("Entry", columns: [SyncColumn("list", .text)], parents: ["List"]),
                    ])
                let device = scenario.device(on: store, settings: settings)
                try await scenario.server.put("l", ["text": "open"], in: "List")
                try await scenario.server.put("e", ["list": "l"], in: "Entry")
                scenario.server.clock.advance(by: .seconds(10))
                try await body(app, scenario, device)
                try await device.context.close()
            }
        }
    }

    static let systemColumns =
        "createdAt, updatedAt, version, \"$supersededVersions\", \"$marks\", \"$undeclared\""

    static func rebuilding(_ columns: String, copying copied: String) -> String {
        """
        CREATE TABLE new(id TEXT PRIMARY KEY, \(columns));
        INSERT INTO new(id, \(copied)) SELECT id, \(copied) FROM TodoItem;
        DROP TABLE TodoItem;
        ALTER TABLE new RENAME TO TodoItem
        """
    }

    /// Migrations after which the table has the column `priority`, or gets it at the next opening, without its values.
    static let losses = [
        "ALTER TABLE TodoItem DROP COLUMN priority",
        "ALTER TABLE TodoItem DROP COLUMN priority; ALTER TABLE TodoItem ADD COLUMN priority INTEGER",
        """
        ALTER TABLE TodoItem DROP COLUMN priority;
        ALTER TABLE TodoItem ADD COLUMN priority INTEGER NOT NULL DEFAULT 0
        """,
        rebuilding("text TEXT, priority INTEGER, \(systemColumns)", copying: "text, \(systemColumns)"),
        rebuilding("priority NUMERIC, text TEXT, \(systemColumns)", copying: "text, \(systemColumns)"),
    ]
}
