// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
import SyncCore
import Testing

/// Constraints, defaults and triggers of an app's table never lose a row of the store without an error.
struct AppConstraintTests {
    private let database: DatabaseQueue

    init() throws { database = try DatabaseQueue() }

    private func open(_ sql: String) throws -> SQLiteStore {
        try database.write { try $0.execute(sql: sql) }
        let table = SyncCore.SyncTableDefinition(
            "T", columns: [SyncCore.SyncColumn("name", .text), SyncCore.SyncColumn("state", .text)])
        return try SQLiteStore(database: database, tables: [table])
    }

    private func texts(_ sql: String) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: sql) }
    }

    private func expectRefusal(_ part: String = "'b'", of write: () throws -> Void) {
        let error = #expect(throws: StoreError.self) { try write() }
        #expect(error?.code == .schemaMismatch)
        for part in ["'T'", part] { #expect(error?.message.contains(part) == true) }
    }

    /// The Kelvin sign is canonically equivalent to the letter K.
    @Test(arguments: ["Kind TEXT NOT NULL DEFAULT 'x', ", ""])
    func `a required column whose name is only canonically equivalent is another one`(_ own: String) throws {
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(
                      id TEXT PRIMARY KEY, \(own)"\u{212A}ind" TEXT NOT NULL DEFAULT 'app')
                    """)
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("Kind", .text)])
        let store = try SQLiteStore(database: database, tables: [table])
        try store.write { try $0.upsert([Item(id: "a", fields: ["Kind": "y"]), Item(id: "b")], in: "T") }
        #expect(try store.read { try $0.item(id: "a", in: "T") }?["Kind"] == "y")
        #expect(try texts("SELECT \"\u{212A}ind\" FROM T") == ["app", "app"])
    }

    @Test(arguments: ["REPLACE", "IGNORE", "FAIL", "ABORT"], [true, false])
    func `a constraint with a conflict clause loses no row`(_ clause: String, _ isInsert: Bool) throws {
        let store = try open("CREATE TABLE T(id TEXT PRIMARY KEY, name TEXT UNIQUE ON CONFLICT \(clause))")
        try store.write {
            try $0.upsert(
                [Item(id: "a", fields: ["name": "x"]), Item(id: "c", fields: ["name": "y"])], in: "T")
        }
        let item = Item(id: "b", fields: ["name": "x"])
        expectRefusal {
            try store.write {
                if isInsert { _ = try $0.insert(item, in: "T") } else { try $0.upsert([item], in: "T") }
            }
        }
        try store.write { try $0.upsert([Item(id: "b", fields: ["name": "z"])], in: "T") }
        expectRefusal { try store.write { try $0.upsert([item], in: "T") } }
        #expect(try texts("SELECT id || name FROM T ORDER BY id") == ["ax", "bz", "cy"])
    }

    @Test func `the conflict clauses of an app's triggers stay as they are`() throws {
        let store = try open(
            """
            CREATE TABLE T(id TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE last(slot INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER inserted AFTER INSERT ON T BEGIN
                INSERT OR REPLACE INTO last VALUES (1, NEW.name); END;
            CREATE TRIGGER updated AFTER UPDATE ON T BEGIN
                INSERT OR REPLACE INTO last VALUES (1, NEW.name); END
            """)
        for name in ["x", "y"] {
            try store.write { try $0.upsert([Item(id: "a", fields: ["name": .text(name)])], in: "T") }
            #expect(try texts("SELECT name FROM last") == [name])
        }
        #expect(try store.write { try $0.insert(Item(id: "b", fields: ["name": "z"]), in: "T") })
        #expect(try !store.write { try $0.insert(Item(id: "b", fields: ["name": "w"]), in: "T") })
        #expect(try texts("SELECT name FROM last") == ["z"])
    }

    @Test(arguments: ["INSERT", "UPDATE", "DELETE"])
    func `a change that a trigger ignores is an error`(_ event: String) throws {
        let store = try open("CREATE TABLE T(id TEXT PRIMARY KEY, name TEXT)")
        if event != "INSERT" {
            try store.write { try $0.upsert([Item(id: "b", fields: ["name": "x"])], in: "T") }
        }
        try database.write {
            try $0.execute(
                sql: "CREATE TRIGGER ignored BEFORE \(event) ON T BEGIN SELECT RAISE(IGNORE); END")
        }
        let ignored = "'b'; remove the trigger with RAISE(IGNORE)."
        guard event == "DELETE" else {
            let item = Item(id: "b", fields: ["name": "y"])
            expectRefusal(ignored) { try store.write { try $0.upsert([item], in: "T") } }
            guard event == "INSERT" else { return }
            return expectRefusal(ignored) { _ = try store.write { try $0.insert(item, in: "T") } }
        }
        expectRefusal(ignored) { try store.write { try $0.deleteItems(ids: ["none", "b"], in: "T") } }
        for query in [TableQuery("T"), TableQuery("T").limit(3), TableQuery("T").offset(0).limit(1)] {
            expectRefusal("an item") { try store.write { _ = try $0.deleteItems(matching: query) } }
        }
        try store.write { try #expect($0.deleteItems(matching: TableQuery("T").offset(1).limit(1)) == 0) }
    }

    @Test(arguments: [nil, 1])
    func `rows that a foreign key removes with others are deleted`(_ limit: Int?) throws {
        let store = try open(
            """
            CREATE TABLE T(id TEXT PRIMARY KEY, name TEXT REFERENCES T ON DELETE CASCADE);
            INSERT INTO T VALUES ('a', NULL), ('b', 'a'), ('c', 'b')
            """)
        var query = TableQuery("T").order(by: "id")
        query.limit = limit
        _ = try store.write { [query] in try $0.deleteItems(matching: query) }
        #expect(try texts("SELECT id FROM T").isEmpty)
    }

    @Test(arguments: [
        ("open", "open"), ("\"open\"", "open"), ("[my state]", "my state"), ("`o'clock`", "o'clock"),
        ("\"a\"\"b\"", "a\"b"), ("`a``b`", "a`b"), ("\"o'\u{301}\"", "o'\u{301}"), ("('a' -- note\n)", "a"),
        ("'it''s'", "it's"), ("(1 + 1)", "2"), ("-1", "-1"), ("name", "name"),
    ])
    func `a missing value is stored as the default that SQLite stores`(
        _ expression: String, _ value: String
    ) throws {
        let store = try open(
            """
            CREATE TABLE T(id TEXT PRIMARY KEY, name TEXT, state TEXT NOT NULL DEFAULT \(expression));
            INSERT INTO T(id) VALUES ('0')
            """)
        for name in ["x", "y"] {
            try store.write { try $0.upsert([Item(id: "1", fields: ["name": .text(name)])], in: "T") }
        }
        #expect(try texts("SELECT state FROM T") == [value, value])
    }
}
