// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// Tables that an app created and writes to with GRDB.
struct AppTableTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    static let player = SyncCore.SyncTableDefinition(
        "player",
        columns: [
            SyncCore.SyncColumn("name", .text, isIndexed: true), SyncCore.SyncColumn("score", .integer),
            SyncCore.SyncColumn("isActive", .bool), SyncCore.SyncColumn("ratio", .double),
            SyncCore.SyncColumn("born", .date, isIndexed: true), SyncCore.SyncColumn("photo", .data),
            SyncCore.SyncColumn("tags", .json),
        ])

    /// A record as an app declares it.
    struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "player"
        var id: String
        var name: String
        var score: Int?
        var isActive = true
        var ratio: Double?
        var born: Date?
        var photo: Data?
    }

    static func createTable(_ database: Database) throws {
        try database.create(table: "player") { table in
            table.primaryKey("id", .text)
            table.column("name", .text).notNull().collate(.nocase)
            table.column("score", .integer)
            table.column("isActive", .boolean).notNull().defaults(to: true)
            table.column("ratio", .double)
            table.column("born", .datetime)
            table.column("photo", .blob)
            table.column("tags", .jsonText)
            table.column("internal", .text)
        }
    }

    enum Writer: CaseIterable { case pool, queue, memory }

    private func open(_ writer: Writer) throws -> (any DatabaseWriter, SQLiteStore) {
        let database: any DatabaseWriter =
            switch writer {
            case .pool: try DatabasePool(path: directory.file())
            case .queue: try DatabaseQueue(path: directory.file())
            case .memory: try DatabaseQueue()
            }
        try database.write { try Self.createTable($0) }
        return (database, try SQLiteStore(database: database, tables: [Self.player]))
    }

    @Test(arguments: Writer.allCases)
    func `the app and the store read each other's writes`(_ writer: Writer) throws {
        let (database, store) = try open(writer)
        let born = Date(timeIntervalSince1970: 1_738_310_950.123)
        let ours = Player(id: "a", name: "Ann", score: 3, ratio: 2, born: born, photo: Data([1, 0]))
        try database.write { try ours.insert($0) }
        let item = try #require(try store.read { try $0.item(id: "a", in: "player") })
        #expect(
            item.fields == [
                "name": "Ann", "score": 3, "isActive": true, "ratio": 2.0,
                "born": .date(try #require(Timestamp("2025-01-31T08:09:10.123Z"))),
                "photo": .data(Data([1, 0])),
            ])
        let date = try #require(Timestamp("2025-01-31T08:09:10.5Z"))
        try store.write {
            try $0.upsert(
                [Item(id: "b", fields: ["name": "Bob", "born": .date(date), "ratio": 2.0, "score": nil])],
                in: "player")
        }
        let theirs = try database.read { try Player.fetchOne($0, key: "b") }
        let readBorn = Date(timeIntervalSince1970: 1_738_310_950.5)
        #expect(theirs == Player(id: "b", name: "Bob", ratio: 2, born: readBorn))
        // A missing value is stored as the default of the app's column.
        #expect(try store.read { try $0.item(id: "b", in: "player") }?["isActive"] == true)
        // A value that the app writes replaces the store's null flag.
        try database.write { try $0.execute(sql: "UPDATE player SET score=7 WHERE id='b'") }
        #expect(try store.read { try $0.item(id: "b", in: "player") }?["score"] == 7)
        #expect(store.capabilities.hasConcurrentReaders == (writer == .pool))
        // GRDB's pools use `synchronous=NORMAL`, and the journal of its queues needs `EXTRA`.
        #expect(!store.capabilities.isDurable)
    }

    @Test func `filters and orderings compare dates of all text forms by instant`() throws {
        let (database, store) = try open(.queue)
        let texts = [
            "a": "2025-01-31T08:09:10.5", "b": "2025-01-31 08:09:10.500", "c": "2025-01-31 08:09:10",
            "d": "2025-01-31T09:09:10.500+01:00", "e": "2025-01-31T08:09:11Z", "f": "2025-01-31 08:09",
            "g": "2025-01-31", "h": "1738310950.5", "i": "nonsense",
        ]
        try database.write { database in
            for (id, text) in texts {
                let value: any DatabaseValueConvertible = id == "h" ? 1_738_310_950.5 : text
                try database.execute(
                    sql: "INSERT INTO player(id, name, born) VALUES (?, ?, ?)", arguments: [id, id, value])
            }
        }
        func ids(_ filter: Filter) throws -> [String] {
            try store.read {
                try $0.items(matching: TableQuery("player").where(filter).select("name")).items.map(\.id)
            }
        }
        let date = ItemValue.date(try #require(Timestamp("2025-01-31T08:09:10.500Z")))
        func comparing(_ comparison: Filter.Comparison) throws -> [String] {
            try ids(.comparison(comparison, .column("born"), .constant(date)))
        }
        #expect(try comparing(.equal) == ["a", "b", "d", "h"])
        #expect(try comparing(.less) == ["c", "f", "g"])
        #expect(try comparing(.lessOrEqual) == ["a", "b", "c", "d", "f", "g", "h"])
        #expect(try comparing(.greater) == ["e"])
        #expect(try comparing(.notEqual) == ["c", "e", "f", "g"])
        #expect(try ids(.membership(.column("born"), [date])) == ["a", "b", "d", "h"])
        let hour = FilterExpression.call(.hour, [.column("born")])
        #expect(
            try ids(.comparison(.equal, hour, .constant(8))) == ["a", "b", "c", "d", "e", "f", "h"])
        let ordered = TableQuery("player").select("name").order(byDescending: "born")
        let found = try store.read { try $0.items(matching: ordered).items.map(\.id) }
        #expect(found == ["e", "b", "d", "h", "a", "c", "f", "g", "i"])
        _ = try store.write { try $0.deleteItems(matching: ordered.limit(8)) }
        #expect(
            try store.read { try $0.items(matching: TableQuery("player").select("name")).items.map(\.id) }
                == ["i"])
    }

    @Test func `strings compare by bytes, whatever the collation of the app's column`() throws {
        let (database, store) = try open(.queue)
        try database.write { database in
            for name in ["b", "B", "a"] { try Player(id: name, name: name).insert(database) }
        }
        let equal = Filter.comparison(.equal, .column("name"), .constant("b"))
        try store.read { snapshot in
            let found = try snapshot.items(matching: TableQuery("player").where(equal))
            #expect(found.items.map(\.id) == ["b"])
            let ordered = try snapshot.items(matching: TableQuery("player").order(by: "name"))
            #expect(ordered.items.map(\.id) == ["B", "a", "b"])
        }
    }

    @Test func `an unreadable value is named in the error, and other rows can be read`() throws {
        let (database, store) = try open(.queue)
        try database.write { database in
            try database.execute(
                sql: "INSERT INTO player(id, name, born) VALUES ('bad', 'x', 'soon'), ('good', 'y', NULL)")
        }
        let error = #expect(throws: StoreError.self) {
            try store.read { try $0.item(id: "bad", in: "player") }
        }
        #expect(error?.code == .corrupt)
        for part in ["'player'", "'born'", "'bad'"] { #expect(error?.message.contains(part) == true) }
        try store.read { snapshot in
            try #expect(snapshot.item(id: "good", in: "player") != nil)
            try #expect(snapshot.items(matching: TableQuery("player").select("name")).items.count == 2)
        }
    }

    @Test func `a row that the app's constraints refuse is named in the error`() throws {
        let (_, store) = try open(.queue)
        let error = #expect(throws: StoreError.self) {
            try store.write { try $0.upsert([Item(id: "1", fields: ["score": 1])], in: "player") }
        }
        #expect(error?.code == .schemaMismatch)
        for part in ["'player'", "name", "'1'"] { #expect(error?.message.contains(part) == true) }
    }

    @Test func `an item of a table with required app columns can be changed`() throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(id TEXT PRIMARY KEY, mine TEXT NOT NULL, text TEXT);
                    INSERT INTO T VALUES ('1', 'kept', 'old')
                    """)
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("text", .text)])
        let store = try SQLiteStore(database: database, tables: [table])
        let item = Item(id: "1", fields: ["text": "new"], system: SystemProperties(version: "v"))
        try store.write { try $0.upsert([item], in: "T") }
        #expect(try store.read { try $0.item(id: "1", in: "T") } == item)
        #expect(try database.read { try String.fetchOne($0, sql: "SELECT mine FROM T") } == "kept")
        expectStoreError(.schemaMismatch) {
            try store.write { try $0.upsert([Item(id: "2", fields: ["text": "x"])], in: "T") }
        }
    }

    @Test(arguments: [
        "id INTEGER PRIMARY KEY", "id TEXT", "id BLOB PRIMARY KEY, x INTEGER", "key TEXT PRIMARY KEY",
        "id TEXT PRIMARY KEY COLLATE NOCASE", "id TEXT, text TEXT, UNIQUE(id, text)",
        "id TEXT PRIMARY KEY, text INTEGER", "id TEXT PRIMARY KEY, version INTEGER",
        "id TEXT PRIMARY KEY, \"Text\" TEXT", "id TEXT COLLATE NOCASE, UNIQUE(id COLLATE BINARY)",
        "id TEXT COLLATE RTRIM, UNIQUE(id COLLATE BINARY)",
        "id TEXT PRIMARY KEY, other TEXT, text TEXT AS (other)",
    ])
    func `a table that cannot store the items is refused and not changed`(_ columns: String) throws {
        let isUsable = columns.hasPrefix("id BLOB")
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE T(\(columns))") }
        let before = try database.read {
            try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql<>''")
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("text", .text)])
        guard !isUsable else {
            _ = try SQLiteStore(database: database, tables: [table])
            return
        }
        expectStoreError(.schemaMismatch) { try SQLiteStore(database: database, tables: [table]) }
        let after = try database.read {
            try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql<>''")
        }
        #expect(after == before)
    }

    @Test(arguments: [
        "id TEXT PRIMARY KEY) STRICT", "id TEXT PRIMARY KEY) WITHOUT ROWID",
        "id VARCHAR(40) NOT NULL UNIQUE)",
        "number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, createdAt DATETIME, text TEXT)",
    ])
    func `tables of many kinds can store items`(_ columns: String) throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE T(\(columns)") }
        let table = SyncCore.SyncTableDefinition(
            "T",
            columns: [
                SyncCore.SyncColumn("text", .text), SyncCore.SyncColumn("flag", .bool, isIndexed: true),
            ])
        let created = try #require(Timestamp("2025-01-31T08:09:10.120Z"))
        let item = Item(
            id: "1", fields: ["text": "5", "flag": false],
            system: SystemProperties(createdAt: created, version: "07", undeclared: ["x": 1]))
        for _ in 0..<2 {
            let store = try SQLiteStore(database: database, tables: [table])
            try store.write { try $0.upsert([item, item], in: "T") }
            #expect(try store.read { try $0.item(id: "1", in: "T") } == item)
            try store.close()
        }
    }
}
