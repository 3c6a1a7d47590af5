// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logging
import StoreSQLite
import SyncCore
import TestSupport
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
        // The operation has the values that the app has removed from the table.
        let moved = SystemProperties(undeclared: ["name": "Ann", "score": 3])
        #expect(try item("a", in: second) == Item(id: "a", fields: ["title": "Ann"], system: moved))
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

    @Test(arguments: [
        "CREATE TABLE new(id TEXT PRIMARY KEY, name TEXT CHECK(name <> 'bad'), score INTEGER)",
        "CREATE TABLE new(id TEXT PRIMARY KEY, name TEXT, score INTEGER, code TEXT NOT NULL DEFAULT '')",
    ])
    func `a row that the app's constraints refuse does not prevent the opening with other columns`(
        _ creation: String
    ) throws {
        let first = try open(SyncColumn("name", .text), SyncColumn("score", .integer))
        let system = SystemProperties(version: "1")
        let rows = [("bad", 1), ("good", 2)].map { id, score in
            Item(id: id, fields: ["name": .text(id), "score": .int(score)], system: system)
        }
        try first.write { transaction in
            try transaction.upsert(rows, in: "player")
            for (id, row) in zip([1, 2] as [Int64], rows) {
                try transaction.put(
                    TableOperation(
                        id: id, table: "player", itemID: row.id, kind: .update, base: row, version: "1"))
            }
        }
        try first.close()
        try execute(
            """
            \(creation); PRAGMA ignore_check_constraints = 1;
            INSERT INTO new(id, name) SELECT id, name FROM player;
            PRAGMA ignore_check_constraints = 0;
            DROP TABLE player; ALTER TABLE new RENAME TO player;
            CREATE TRIGGER refuse BEFORE UPDATE ON player WHEN OLD.name = 'bad' BEGIN
                SELECT RAISE(ABORT, 'refused');
            END
            """)
        let log = LogMessages(.info)
        let table = SyncCore.SyncTableDefinition(
            "player", columns: [SyncColumn("name", .text), SyncColumn("score", .integer)])
        let second = try SQLiteStore(
            database: database, tables: [table], logger: log.logger)
        #expect(log.all.count == 1)
        #expect(try item("bad", in: second)?.fields == ["name": "bad"])
        #expect(try item("good", in: second)?.fields == ["name": "good", "score": 2])
        // The missing value is no edit.
        let bases = try second.read { try $0.operations(after: 0, in: nil, limit: 2).map(\.base) }
        #expect(bases.map { $0?.fields["score"] } == [nil, 2])
        #expect(bases[0]?.system.undeclared == ["score": 1])
    }

    @Test func `the store's index of a column or a table that the app has renamed is dropped`() throws {
        try open(SyncColumn("name", .text, isIndexed: true)).close()
        try execute(
            "ALTER TABLE player RENAME COLUMN name TO title; ALTER TABLE player ADD COLUMN name TEXT")
        try open(SyncColumn("title", .text), SyncColumn("name", .text, isIndexed: true)).close()
        #expect(try indexes() == ["player.name"])
        let indexed = try database.read { try $0.indexes(on: "player").map(\.columns) }
        #expect(Set(indexed) == [["id"], ["name"]])
        try execute("ALTER TABLE player RENAME TO other; ALTER TABLE other RENAME COLUMN title TO text")
        let other = SyncCore.SyncTableDefinition("other", columns: [SyncColumn("name", .text)])
        try SQLiteStore(database: database, tables: [other]).close()
        #expect(
            try database.read { try $0.indexes(on: "other").map(\.name) }
                == ["sqlite_autoindex_other_1"])
    }
}
