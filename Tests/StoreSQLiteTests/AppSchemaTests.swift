// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
import SyncCore
import Testing

/// An app changes the schema of a table that it has created between two openings of the store.
struct AppSchemaTests {
    private typealias SyncColumn = SyncCore.SyncColumn
    private let database: DatabaseQueue

    init() throws {
        database = try DatabaseQueue()
        try execute("CREATE TABLE player(id TEXT PRIMARY KEY, name TEXT, score INTEGER, born DATETIME)")
    }

    private func execute(_ sql: String) throws {
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    private func open(_ columns: SyncCore.SyncColumn...) throws -> SQLiteStore {
        try SQLiteStore(
            database: database, tables: [SyncCore.SyncTableDefinition("player", columns: columns)])
    }

    private func item(_ id: String, in store: SQLiteStore) throws -> Item? {
        try store.read { try $0.item(id: id, in: "player") }
    }

    private func indexes() throws -> [String] {
        try database.read {
            try String.fetchAll(
                $0,
                sql:
                    "SELECT name FROM sqlite_master WHERE type='index' AND tbl_name='player' AND sql<>'' ORDER BY name"
            )
        }
    }

    @Test func `an app may drop and rename columns, and rows in operations keep their values`() throws {
        let row = Item(id: "a", fields: ["name": "Ann", "score": 3])
        let first = try open(SyncColumn("name", .text), SyncColumn("score", .integer))
        try first.write { transaction in
            try transaction.upsert([row], in: "player")
            try transaction.put(
                TableOperation(id: 1, table: "player", itemID: "a", kind: .update, base: row, version: "1"))
        }
        try first.close()
        try execute("ALTER TABLE player DROP COLUMN score; ALTER TABLE player RENAME COLUMN name TO title")
        let second = try open(SyncColumn("title", .text))
        #expect(try item("a", in: second) == Item(id: "a", fields: ["title": "Ann"]))
        let operation = try second.read { try $0.operation(id: 1) }
        #expect(operation?.base?.system.undeclared == ["name": "Ann", "score": 3])
    }

    @Test func `a former column that the app has changed to another type has no values to move`() throws {
        let first = try open(SyncColumn("name", .text), SyncColumn("score", .integer))
        try first.write { try $0.upsert([Item(id: "a", fields: ["name": "Ann", "score": 3])], in: "player") }
        try first.close()
        try execute("ALTER TABLE player DROP COLUMN score; ALTER TABLE player ADD COLUMN score TEXT")
        try execute("UPDATE player SET score='many'")
        #expect(try item("a", in: open(SyncColumn("name", .text))) == Item(id: "a", fields: ["name": "Ann"]))
    }

    @Test func `a row with an unreadable value does not prevent the opening with other columns`() throws {
        let first = try open(SyncColumn("name", .text), SyncColumn("born", .date))
        let date = ItemValue.date(.unixEpoch)
        try first.write { transaction in
            try transaction.upsert([Item(id: "good", fields: ["born": date])], in: "player")
            let base = Item(id: "bad")
            try transaction.put(
                TableOperation(id: 1, table: "player", itemID: "bad", kind: .update, base: base, version: "1")
            )
        }
        try first.close()
        try execute("INSERT INTO player(id, name, born) VALUES ('bad', 'x', 'soon'), (NULL, 'y', NULL)")
        let second = try open(SyncColumn("name", .text), SyncColumn("score", .integer))
        #expect(
            try item("good", in: second)
                == Item(id: "good", system: SystemProperties(undeclared: ["born": date])))
        #expect(try item("bad", in: second)?["name"] == "x")
    }

    @Test func `indexes of the app are kept, those of the store are dropped with their declaration`() throws {
        try execute(
            "CREATE UNIQUE INDEX \"player.score\" ON player(score); CREATE INDEX \"player.x\" ON player(name)"
        )
        try open(SyncColumn("name", .text, isIndexed: true)).close()
        #expect(try indexes() == ["player.name", "player.score", "player.x"])
        try open(SyncColumn("name", .text)).close()
        #expect(try indexes() == ["player.score", "player.x"])
    }
}
