// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

struct SchemaTests {
    private typealias SyncColumn = SyncCore.SyncColumn
    private typealias SyncTableDefinition = SyncCore.SyncTableDefinition

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Opens the store with a table `T` of these columns, runs the body and closes the store.
    private func withStore<R>(_ columns: [SyncColumn], table: String = "T", _ body: (SQLiteStore) throws -> R)
        throws -> R
    {
        let store = try SQLiteStore(
            path: directory.file(), tables: [SyncTableDefinition(table, columns: columns)])
        let result = Result { try body(store) }
        try store.close()
        return try result.get()
    }

    /// Opens the closed store's database with GRDB, as another tool would.
    private func withDatabase<R>(_ body: (Database) throws -> R) throws -> R {
        let queue = try DatabaseQueue(path: directory.file())
        let result = Result { try queue.writeWithoutTransaction(body) }
        try queue.close()
        return try result.get()
    }

    private func sql(of name: String) throws -> String? {
        try withDatabase {
            try String.fetchOne($0, sql: "SELECT sql FROM sqlite_master WHERE name=?", arguments: [name])
        }
    }

    @Test func `the schema has the declared columns and indexes`() throws {
        let columns = [
            SyncColumn("text", .text), SyncColumn("complete", .bool, isIndexed: true),
            SyncColumn("count", .integer),
            SyncColumn("price", .double), SyncColumn("dueAt", .date), SyncColumn("photo", .data),
            SyncColumn("tags", .json),
        ]
        try withStore(columns) { _ in }
        try #expect(
            sql(of: "T") == """
                CREATE TABLE "T" (
                  "id" TEXT PRIMARY KEY NOT NULL,
                  "createdAt" DATETIME TEXT,
                  "updatedAt" DATETIME TEXT,
                  "version" TEXT,
                  "$supersededVersions" JSON TEXT,
                  "$marks" TEXT,
                  "$undeclared" JSON TEXT,
                  "text" TEXT,
                  "complete" BOOLEAN,
                  "count" INTEGER,
                  "price" REAL,
                  "dueAt" DATETIME TEXT,
                  "photo" BLOB,
                  "tags" JSON TEXT
                )
                """)
        try #expect(sql(of: "T.complete") == #"CREATE INDEX "T.complete" ON "T"("complete")"#)
    }

    @Test func `SQLite tools can read the values`() throws {
        let columns = [
            SyncColumn("flag", .bool), SyncColumn("due", .date), SyncColumn("tags", .json),
            SyncColumn("size", .double),
            SyncColumn("text", .text),
        ]
        try withStore(columns) { store in
            let fields: [String: ItemValue] = [
                "flag": true, "due": .date(try #require(Timestamp("2014-05-30T18:30:00.50Z"))),
                "tags": ["a", 1],
                "size": -0.0, "text": nil,
            ]
            let system = SystemProperties(version: "v", supersededVersions: ["u"], undeclared: ["x": 1])
            try store.write { try $0.upsert([Item(id: "1", fields: fields, system: system)], in: "T") }
        }
        let row = try withDatabase { try Row.fetchOne($0, sql: "SELECT *, typeof(size) AS stored FROM T") }
        #expect(
            row == [
                "id": "1", "createdAt": nil, "updatedAt": nil, "version": "v",
                "$supersededVersions": #"["u"]"#,
                "$marks": "-size,text", "$undeclared": #"{"x":1}"#, "flag": 1,
                "due": "2014-05-30T18:30:00.50", "tags": #"["a",1]"#,
                "size": 0.0, "text": nil, "stored": "real",
            ])
    }

    @Test func `new columns are added, and existing rows have no value in them`() throws {
        try withStore([SyncColumn("a", .text)]) { store in
            try store.write { try $0.upsert([Item(id: "1", fields: ["a": "x"])], in: "T") }
        }
        try withStore([SyncColumn("b", .json), SyncColumn("a", .text)]) { store in
            try #expect(store.read { try $0.item(id: "1", in: "T") } == Item(id: "1", fields: ["a": "x"]))
            try store.write { try $0.upsert([Item(id: "2", fields: ["b": nil])], in: "T") }
            try #expect(store.read { try $0.item(id: "2", in: "T") } == Item(id: "2", fields: ["b": nil]))
        }
    }

    @Test func `a column that is no longer declared keeps its values`() throws {
        let (a, b) = (SyncColumn("a", .text), SyncColumn("b", .integer, isIndexed: true))
        let item = Item(id: "1", fields: ["a": nil, "b": 7])
        try withStore([a, b]) { store in try store.write { try $0.upsert([item], in: "T") } }
        try withStore([b]) { store in
            try #expect(
                store.read { try $0.item(id: "1", in: "T") }
                    == Item(
                        id: "1", fields: ["b": 7], system: SystemProperties(undeclared: ["a": nil])))
        }
        try withStore([a, b]) { store in try #expect(store.read { try $0.item(id: "1", in: "T") } == item) }
    }

    @Test func `a row whose id is not UTF-8 is corrupt, also when the columns change`() throws {
        let (a, b) = (SyncColumn("a", .text), SyncColumn("b", .text))
        try withStore([a, b]) { _ in }
        try withDatabase {
            try $0.execute(sql: "INSERT INTO T(id, a) VALUES ('1', 'x'), (CAST(x'f0' AS TEXT), 'x')")
        }
        expectStoreError(.corrupt, naming: ["'id'", "'T'"]) { try withStore([b]) { _ in } }
        try withStore([a, b]) { store in
            try store.read { snapshot in
                expectStoreError(.corrupt) { try snapshot.items(matching: TableQuery("T")) }
                try #expect(snapshot.item(id: "1", in: "T") == Item(id: "1", fields: ["a": "x"]))
            }
        }
    }

    @Test(arguments: ColumnType.allCases)
    func `a column of another type is refused and nothing is changed`(type: ColumnType) throws {
        try withStore([SyncColumn("a", type)]) { _ in }
        for other in ColumnType.allCases where other != type {
            expectStoreError(
                .schemaMismatch, naming: ["'a'", "'T'", "declared as .\(other),", "is .\(type)."]
            ) {
                try withStore([SyncColumn("new", .text), SyncColumn("a", other)]) { _ in }
            }
        }
        try withStore([SyncColumn("a", type)]) { _ in }
        try #expect(sql(of: "T")?.contains("new") == false)
    }

    @Test func `names that differ only in case from existing ones are refused`() throws {
        try withStore([SyncColumn("text", .text)]) { _ in }
        expectStoreError(.schemaMismatch) { try withStore([SyncColumn("Text", .text)]) { _ in } }
        expectStoreError(.schemaMismatch) { try withStore([SyncColumn("text", .text)], table: "t") { _ in } }
    }

    /// The Kelvin sign is canonically equivalent to the letter K.
    @Test func `names that are only canonically equivalent are different`() throws {
        try withStore([], table: "K") { _ in }
        try withDatabase { database in
            try database.execute(
                sql: """
                    ALTER TABLE K ADD COLUMN "\u{212A}ind" INTEGER;
                    CREATE VIEW "\u{212A}" AS SELECT 1
                    """)
        }
        try withStore([SyncColumn("Kind", .text, isIndexed: true)], table: "K") { store in
            let item = Item(id: "1", fields: ["Kind": "x"])
            try store.write { try $0.upsert([item], in: "K") }
            try #expect(store.read { try $0.item(id: "1", in: "K") } == item)
        }
    }

    @Test func `a view or another program's table is refused`() throws {
        try withStore([], table: "Other") { _ in }
        try withDatabase { database in
            try database.execute(
                sql: "CREATE VIEW V AS SELECT id FROM Other; CREATE TABLE T(id TEXT PRIMARY KEY)")
        }
        expectStoreError(.schemaMismatch) { try withStore([], table: "V") { _ in } }
        expectStoreError(.schemaMismatch) { try withStore([], table: "T") { _ in } }
        try withStore([], table: "Other") { _ in }
    }

    @Test func `indexes are created and dropped as declared, and others are not changed`() throws {
        func indexes() throws -> [String] {
            try withDatabase { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE type='index' AND tbl_name='T' AND sql<>''")
            }.sorted()
        }
        let types: [ColumnType] = [.text, .integer, .double, .date, .bool, .data]
        let columns = types.map { SyncColumn($0.rawValue, $0, isIndexed: true) }
        try withStore(columns) { _ in }
        try #expect(indexes() == types.map { "T.\($0.rawValue)" }.sorted())
        try withDatabase { try $0.execute(sql: "CREATE INDEX mine ON T(text)") }
        try withStore([SyncColumn("text", .text), SyncColumn("integer", .integer, isIndexed: true)]) { _ in }
        try #expect(indexes() == ["T.integer", "mine"])
    }

    @Test func `SQLite uses the indexes`() throws {
        try withStore([SyncColumn("due", .date, isIndexed: true), SyncColumn("text", .text, isIndexed: true)])
        { _ in
        }
        let plans = try withDatabase { database in
            try ["due BETWEEN 'a' AND 'b'", "due < 'a'", "(text>='a' AND text<'b')", "text IN ('a')"].map {
                condition in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN SELECT * FROM T WHERE \(condition)")
                    .description
            }
        }
        for plan in plans { #expect(plan.contains("USING INDEX T."), "\(plan)") }
    }

    @Test func `SQL keywords are valid names`() throws {
        let names = [
            "select", "order", "rowid", "oid", "_rowid_", "table", "index", "supersededVersions", "marks",
            "deletedAt", "excluded", "MS_a", "A", String(repeating: "x", count: 128),
        ]
        let columns = names.map { SyncColumn($0, .text, isIndexed: true) }
        for table in ["group", "from", "_", "T1"] {
            try withStore(columns, table: table) { store in
                let item = Item(
                    id: "1", fields: Dictionary(uniqueKeysWithValues: names.map { ($0, .text($0)) }))
                try store.write { try $0.upsert([item, item], in: table) }
                for name in names {
                    let query = TableQuery(table).where(.column(name) == name).order(byDescending: name)
                        .limit(2)
                    try #expect(store.read { try $0.items(matching: query) }.items == [item])
                }
                try #expect(store.write { try $0.deleteItems(matching: TableQuery(table).limit(1)) } == 1)
            }
        }
    }

    @Test func `more columns than SQLite supports are refused`() throws {
        let columns = (0..<1994).map { SyncColumn("c\($0)", .integer) }
        expectStoreError(.unsupported) { try withStore(columns) { _ in } }
        try withStore(Array(columns.prefix(1993))) { store in
            let item = Item(id: "1", fields: ["c0": 0, "c1992": 1992])
            try store.write { try $0.upsert([item], in: "T") }
            try #expect(store.read { try $0.item(id: "1", in: "T") } == item)
        }
    }
}
