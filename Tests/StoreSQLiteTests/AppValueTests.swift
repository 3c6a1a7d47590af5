// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import Synchronization
import Testing

/// Values that an app stores in its own table in other forms than the store.
struct AppValueTests {
    private typealias SyncColumn = SyncCore.SyncColumn

    private static let definition = SyncCore.SyncTableDefinition(
        "T",
        columns: [
            SyncColumn("flag", .bool), SyncColumn("size", .double), SyncColumn("born", .date),
            SyncColumn("tags", .json), SyncColumn("name", .text),
        ])

    private let database: DatabaseQueue
    private let store: SQLiteStore

    init() throws {
        database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(
                      id TEXT PRIMARY KEY, flag BOOLEAN, size NUMERIC, born DATETIME, tags TEXT, name TEXT)
                    """)
        }
        store = try SQLiteStore(database: database, tables: [Self.definition])
    }

    private func ids(_ filter: Filter) throws -> [String] {
        try store.read { try $0.items(matching: TableQuery("T").where(filter)).items.map(\.id) }
    }

    @Test(arguments: [
        #"{"$ref":"x"}"#, #"{"$date":"2020-01-01T00:00:00Z"}"#, #"{"$$x":1}"#, #"{"$data":"AQI="}"#,
        "[{\"$\":null}]",
    ])
    func `JSON of the app is plain`(_ json: String) throws {
        try database.write {
            try $0.execute(sql: "INSERT INTO T(id, tags) VALUES ('a', ?)", arguments: [json])
        }
        let item = try #require(try store.read { try $0.item(id: "a", in: "T") })
        #expect(try item["tags"] == ItemValue(json: Array(json.utf8)))
        try store.write { try $0.upsert([Item(id: "b", fields: item.fields)], in: "T") }
        let written = try database.read { try String.fetchOne($0, sql: "SELECT tags FROM T WHERE id='b'") }
        #expect(written == json)
    }

    @Test func `JSON null of the app is null in filters`() throws {
        let texts: [String: String?] = [
            "a": nil, "b": "null", "c": " \t\r\nnull\n", "d": "\"null\"", "e": "[null]", "f": "{}", "g": "0",
        ]
        try database.write { database in
            for (id, text) in texts {
                try database.execute(sql: "INSERT INTO T(id, tags) VALUES (?, ?)", arguments: [id, text])
            }
        }
        let tags = FilterExpression.column("tags")
        let isNull = Filter.isNull(tags)
        let filters: [Filter] = [
            isNull, !isNull, .comparison(.equal, tags, .constant(.null)),
            .comparison(.notEqual, tags, .constant(.null)), isNull && .column("id") > "a",
            !(isNull || .column("id") == "d"),
        ]
        let query = TableQuery("T")
        let items = try store.read { try $0.items(matching: query).items }
        for filter in filters {
            let expected = query.where(filter).apply(to: items).items.map(\.id)
            #expect(try ids(filter) == expected, "\(filter)")
        }
        #expect(try ids(isNull) == ["a", "b", "c"])
    }

    @Test func `columns of a row can be read although another column cannot`() throws {
        try database.write {
            try $0.execute(sql: "INSERT INTO T(id, flag, size, born) VALUES ('a', 1, 2.5, 'soon')")
        }
        let query = TableQuery("T").where(.column("id") == "a")
        var values: [[ItemValue]] = []
        _ = try store.read { snapshot in
            try snapshot.forEachRow(matching: query, columns: ["size", "flag"]) { values.append($0.values) }
        }
        #expect(values == [[2.5, true]])
    }

    @Test func `whole doubles that the app's column stores as integers are doubles in calculations`() throws {
        try database.write { try $0.execute(sql: "INSERT INTO T(id, size) VALUES ('a', 7)") }
        let size = FilterExpression.column("size")
        #expect(try ids(size / 2 == 3.5) == ["a"])
        #expect(try ids(FilterExpression.call(.round, [size]) / 2 == 3.5) == ["a"])
    }

    @Test func `every number of the app except zero is true`() throws {
        try database.write {
            try $0.execute(sql: "INSERT INTO T(id, flag) VALUES ('a', 5), ('b', 1), ('c', 0), ('d', NULL)")
        }
        #expect(try ids(.column("flag") == true) == ["a", "b"])
        #expect(try ids(.isIn(.column("flag"), [false])) == ["c"])
        #expect(try ids(.isNull(.column("flag"))) == ["d"])
        let ordered = TableQuery("T").order(byDescending: "flag")
        #expect(try store.read { try $0.items(matching: ordered).items.map(\.id) } == ["a", "b", "c", "d"])
    }

    @Test(arguments: [-9_223_372_036_854_776, 9_223_372_036_854_776, 1e300, -1e300, 253_402_300_800])
    func `a number outside the years of a date is unreadable`(_ time: Double) throws {
        try database.write {
            try $0.execute(sql: "INSERT INTO T(id, born) VALUES ('a', ?)", arguments: [time])
        }
        expectStoreError(.corrupt, naming: ["'born'", "'a'"]) {
            try store.read { try $0.item(id: "a", in: "T") }
        }
        #expect(try ids(.comparison(.equal, .column("born"), .constant(.date(.unixEpoch)))).isEmpty)
    }

    @Test(arguments: ["9e999", "-9e999"])
    func `an infinity is unreadable`(_ number: String) throws {
        try database.write { try $0.execute(sql: "INSERT INTO T(id, size) VALUES ('a', \(number))") }
        expectStoreError(.corrupt, naming: ["'size'", "'a'"]) {
            try store.read { try $0.item(id: "a", in: "T") }
        }
        #expect(try ids(FilterExpression.call(.round, [.column("size")]) == 3).isEmpty)
    }

    @Test func `text that is not UTF-8 is unreadable, and stays as the app has stored it`() async throws {
        try await database.write {
            try $0.execute(
                sql: "INSERT INTO T(id, name) VALUES ('a', CAST(x'e9' AS TEXT)), ('b', '\u{e9}')")
        }
        expectStoreError(.corrupt, naming: ["'name'", "'a'", "UTF-8"]) {
            try store.read { try $0.item(id: "a", in: "T") }
        }
        #expect(try store.read { try $0.item(id: "b", in: "T") }?["name"] == "\u{e9}")
        #expect(try ids(FilterExpression.call(.length, [.column("name")]) == 1) == ["b"])
        let url = try #require(URL(string: "https://example.com"))
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        let error = await #expect(throws: SyncError.self) {
            try await context.table("T").update(id: "a", ["flag": true])
        }
        #expect((error?.cause as? StoreError)?.code == .corrupt)
        let bytes = try await database.read {
            try String.fetchOne($0, sql: "SELECT hex(name) FROM T WHERE id='a'")
        }
        #expect(bytes == "E9")
        try await context.close()
    }

    @Test func `inserting an existing item of a table with required app columns adds nothing`() throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(id TEXT PRIMARY KEY, mine TEXT NOT NULL);
                    INSERT INTO T(id, mine) VALUES ('a', 'kept')
                    """)
        }
        let store = try SQLiteStore(database: database, tables: [Self.definition])
        #expect(try !store.write { try $0.insert(Item(id: "a"), in: "T") })
        expectStoreError(.schemaMismatch) { try store.write { try $0.insert(Item(id: "b"), in: "T") } }
    }

    @Test func `the next rows after an id are read in the order of the index of ids`() throws {
        let statements = Statements()
        try database.write { $0.trace { event in statements.all.withLock { $0.append(event.description) } } }
        _ = try ids(.column("id") > "a")
        let query = TableQuery("T").where(.column("id") > "a").limit(10)
        _ = try store.read { try $0.items(matching: query) }
        let sql = try #require(statements.all.withLock { $0.last { $0.contains("LIMIT") } })
        let plan = try database.read {
            try Row.fetchAll($0, sql: "EXPLAIN QUERY PLAN " + sql, arguments: ["a"])
        }
        #expect(!plan.description.contains("TEMP B-TREE"), "\(plan)")
    }
}

private final class Statements: Sendable {
    let all = Mutex<[String]>([])
}
