// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import StoreSQLite
import SyncCore
import Testing

/// The prepared statements that a connection keeps.
struct StatementCacheTests {
    private let database: DatabaseQueue
    private let store: SQLiteStore

    init() throws {
        database = try DatabaseQueue()
        store = try SQLiteStore(database: database, tables: [Things.definition])
        let items = (0..<50).map { Item(id: "\($0)", fields: ["count": .int(Int64($0))]) }
        try store.write { try $0.upsert(items, in: "Thing") }
    }

    private func statementCount() throws -> Int {
        try database.read { database in
            var count = 0
            var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
            while let found = statement {
                count += 1
                statement = sqlite3_next_stmt(database.sqliteConnection, found)
            }
            return count
        }
    }

    @Test func `the pages of a query use one statement, and long ones none`() throws {
        let expected = (10..<50).map { "\($0)" }
        let before = try statementCount()
        for number in 0..<1000 {
            let query = TableQuery("Thing").where(.column("count") >= 10).order(by: "count")
            let limit = number.isMultiple(of: 2) ? 3 : 1001 + number
            let found = try store.things(query.offset(number).limit(limit)).items.map(\.id)
            #expect(found == Array(expected.dropFirst(number).prefix(limit)))
            _ = try store.write { try $0.deleteItems(matching: query.offset(number + 40).limit(limit)) }
        }
        #expect(try statementCount() <= before + 6)
    }

    @Test func `long lists of conditions are not kept`() throws {
        let before = try statementCount()
        for length in 1...300 {
            let conditions: [Filter] = (0..<length).map { .column("count") == $0 }
            #expect(try store.ids(.any(conditions)).count == min(length, 50))
        }
        #expect(try statementCount() <= before + 24)
    }

    /// SQLite retains the list until the statement is finalized.
    @Test func `a list that is too long for parameters is not kept`() throws {
        // Registers the functions and prepares a deletion, which keeps statements.
        for _ in 0..<2 { _ = try store.ids(.hasSuffix(.column("text"), "x")) }
        _ = try store.write { try $0.deleteItems(matching: TableQuery("Thing").where(.column("count") == 0)) }
        let before = try statementCount()
        let query = TableQuery("Thing").where(.isIn(.column("count"), Array(0..<10_000)))
        #expect(try store.things(query).items.count == 49)
        #expect(try store.write { try $0.deleteItems(matching: query) } == 49)
        #expect(try statementCount() <= before)
    }
}
