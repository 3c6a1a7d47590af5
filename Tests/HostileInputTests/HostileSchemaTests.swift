// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// SQLite files with a schema that another program has changed to attack the app.
@Suite struct HostileSchemaTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws { directory = try TemporaryDirectory() }

    /// Makes a store with one item, and runs SQL in its file.
    private func prepare(_ sql: String) throws {
        let store = try StoreKind.sqlite.open(at: path)
        try store.write { try $0.upsert([Item(id: "a", fields: ["text": "one"])], in: Thing.name) }
        try store.close()
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(arguments: [
        "DROP TABLE Thing; CREATE VIEW Thing AS SELECT 'a' AS id",
        "DROP TABLE MS_TableOperations; CREATE VIEW MS_TableOperations AS SELECT 1 AS id",
        "DROP TABLE MS_TableOperations", "DROP TABLE MS_TableConfig; CREATE TABLE MS_TableConfig(x)",
        "DROP TABLE MS_TableOperationErrors; CREATE VIRTUAL TABLE MS_TableOperationErrors USING fts5(x)",
        "DROP TABLE Thing; CREATE VIRTUAL TABLE Thing USING fts5(id, text)",
        "DROP TABLE Thing; CREATE TABLE Thing(id TEXT)", "PRAGMA user_version = -1",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 2147483647", "PRAGMA application_id = 1",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE Thing(' WHERE name = 'Thing'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2000000000 WHERE name = 'Thing'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1 WHERE name = 'Thing'",
    ])
    func `a changed schema is a typed error, or the missing tables are made again`(sql: String) throws {
        try prepare(sql)
        do {
            let store = try StoreKind.sqlite.open(at: path)
            defer { try? store.close() }
            try store.write { transaction in
                _ = try transaction.items(matching: Thing.query)
                try transaction.upsert([Item(id: "b", fields: ["text": "two"])], in: Thing.name)
                try transaction.put(TableOperation(id: 1, table: Thing.name, itemID: "b", kind: .insert))
            }
            try #expect(store.read { try $0.item(id: "b", in: Thing.name)?["text"] } == "two")
            try #expect(store.read { try $0.operationCount(in: nil) } == 1)
        } catch let error as StoreError {
            #expect([.corrupt, .newerFormat, .schemaMismatch, .inputOutput].contains(error.code), "\(error)")
        }
    }

    /// A query without end, with the columns that the store reads of its system tables.
    private static let endlessRows = """
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)
        SELECT x AS id, x||'' AS "table", x||'' AS keyType, x||'' AS "key", '' AS value, 0 AS tableKind,
          x AS operationId, '' AS itemId, '' AS properties, NULL AS "rows" FROM c
        """

    /// SQLite accepts these changes of the schema, and reads the view as before.
    @Test(arguments: [
        ("MS_TableConfig", "type = 'view'"), ("ms_tableconfig", "type = 'view'"),
        ("MS_TableOperations", "type = 'view'"), ("MS_TableOperationErrors", "type = 'view'"),
        ("MS_TableConfig", "type = 'VIEW'"), ("MS_TableOperations", "type = 'VIEW'"),
        ("MS_TableOperationErrors", "type = 'VIEW'"), ("MS_TableOperations", "type = CAST(type AS BLOB)"),
        ("MS_TableOperations", "type = type || char(0) || 'x'"),
        ("MS_TableOperations", "name = CAST(name AS BLOB)"),
        ("MS_TableOperations", "name = name || char(0) || 'x'"),
    ])
    func `an endless view in place of a system table is corrupt`(name: String, change: String) throws {
        try prepare(
            """
            DROP TABLE \(name); CREATE VIEW \(name) AS \(Self.endlessRows);
            PRAGMA writable_schema = ON; UPDATE sqlite_master SET \(change) WHERE name = '\(name)'
            """)
        let error = #expect(throws: StoreError.self) { try StoreKind.sqlite.open(at: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("'\(name)' is a view") == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("MS_TableConfig", "'MS_TableConfig' is a virtual table"),
        ("MS_TableOperations", "'MS_TableOperations' is a virtual table"),
        ("Thing", "rename the virtual table 'Thing'"),
    ])
    func `a virtual table, whose rows can be those of an endless view, is refused`(
        name: String, problem: String
    ) throws {
        try prepare("DROP TABLE \(name); CREATE VIRTUAL TABLE \(name) USING fts5(id, x)")
        let error = #expect(throws: StoreError.self) { try StoreKind.sqlite.open(at: path) }
        #expect(error?.message.contains(problem) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["MS_TableConfig", "MS_TableOperationErrors"])
    func `an endless view in the database of an app is refused, and views of the app are not`(
        name: String
    ) throws {
        let queue = try DatabaseQueue()
        func execute(_ sql: String) throws {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        }
        func open() throws -> SQLiteStore {
            try SQLiteStore(database: queue, tables: [Thing.definition])
        }
        try execute("CREATE VIEW mine AS \(Self.endlessRows)")
        try open().close()
        try execute("DROP TABLE \(name); CREATE VIEW \(name) AS \(Self.endlessRows)")
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("'\(name)' is a view") == true, "\(String(describing: error))")
    }

    @Test(arguments: ["view", "VIEW"])
    func `a table of an app that is an endless view is refused`(kind: String) throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE VIEW Thing AS \(Self.endlessRows);
                    PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = '\(kind)';
                    PRAGMA writable_schema = OFF
                    """)
        }
        let error = #expect(throws: StoreError.self) {
            try SQLiteStore(database: queue, tables: [Thing.definition])
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("rename the view 'Thing'") == true)
    }

    /// The database has no identity without its log, which is therefore read like that of a killed process.
    @Test func `an endless view in a database is not read when its log is checked`() throws {
        try prepare("DROP TABLE MS_TableConfig; CREATE VIEW MS_TableConfig AS \(Self.endlessRows)")
        let other = directory.file("other")
        let store = try StoreKind.sqlite.open(at: other)
        try store.write { try $0.upsert([Item(id: "logged")], in: Thing.name) }
        try Data(contentsOf: URL(filePath: other + "-wal")).write(to: URL(filePath: path + "-wal"))
        try store.close()
        let reopened = try StoreKind.sqlite.open(at: path)
        #expect(try reopened.read { try $0.items(matching: Thing.query).items.map(\.id) } == ["logged"])
        try reopened.close()
    }

    @Test(arguments: [
        "load_extension('evil')", "writefile('evil', 'x')", "readfile('/etc/passwd')",
        "fts3_tokenizer('x', x'00')",
        "zeroblob(2000000000)",
    ])
    func `a trigger of the file can call no dangerous function, and a failed write changes nothing`(
        function: String
    )
        throws
    {
        try prepare("CREATE TRIGGER evil AFTER INSERT ON Thing BEGIN SELECT \(function); END")
        let store = try StoreKind.sqlite.open(at: path)
        #expect(throws: StoreError.self) {
            try store.write { try $0.upsert([Item(id: "b", fields: ["text": "two"])], in: Thing.name) }
        }
        try #expect(store.read { try $0.items(matching: Thing.query).items.map(\.id) } == ["a"])
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: "evil"))
    }

    /// A quote after a format character is part of its `Character`.
    @Test(arguments: ["thing(id)", "Thing(\"a\u{600}\"\"; CREATE TABLE planted(x); --\")"])
    func `the name of an index in the file is not read as SQL`(_ target: String) throws {
        try prepare(
            """
            ALTER TABLE Thing ADD COLUMN "a\u{600}""; CREATE TABLE planted(x); --";
            CREATE INDEX "thing.a\u{600}" ON Thing(text);
            CREATE INDEX "Thing.a\u{600}""; CREATE TABLE planted(x); --" ON \(target)
            """)
        try StoreKind.sqlite.open(at: path).close()
        let queue = try DatabaseQueue(path: path)
        let names = try queue.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master") }
        try queue.close()
        #expect(names.contains("thing.a\u{600}"))
        #expect(!names.contains("planted"))
    }

    @Test func `text that names no column is not read as a string`() throws {
        try prepare("SELECT 1")
        let store = try StoreKind.sqlite.open(at: path)
        let query = Thing.query.where(.column("nosuch") == "nosuch")
        #expect(throws: (any Error).self) { try store.read { try $0.items(matching: query) } }
        try store.close()
    }
}
