// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

/// Compares compiled queries with the reference, which evaluates them item by item.
struct QueryDifferentialTests {
    private let directory: TemporaryDirectory
    private let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Things.store(at: directory.file())
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a query has the same result as the reference`(seed: UInt64) throws {
        try compare(store, seed: seed)
    }

    /// The app's columns have other affinities and collations than the store's.
    @Test(arguments: 200..<206 as Range<UInt64>)
    func `a query of an app's table has the same result as the reference`(seed: UInt64) throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE Thing(
                      id TEXT PRIMARY KEY, flag BOOLEAN, count NUMERIC, size NUMERIC, text TEXT COLLATE NOCASE,
                      due DATETIME, note TEXT COLLATE RTRIM, other INTEGER, ratio INTEGER, done TEXT
                    )
                    """)
        }
        try compare(SQLiteStore(database: database, tables: [Things.definition]), seed: seed)
    }

    private func compare(_ store: SQLiteStore, seed: UInt64) throws {
        var generator = QueryGenerator(seed: seed)
        let items = (0..<80).map { generator.item($0) }
        try store.write { try $0.upsert(items, in: "Thing") }
        var foundCount = 0
        for number in 0..<300 {
            let query = generator.query()
            try query.validate(against: Things.definition)
            let (expected, found) = (query.apply(to: items), try store.things(query))
            #expect(found == expected, "seed \(seed), query \(number): \(query)")
            if found != expected { break }
            foundCount += found.items.count
        }
        #expect(foundCount > 1000, "The generated queries have too few matches.")
    }

    @Test(arguments: 100..<102 as Range<UInt64>)
    func `deleting by query deletes the reference's matches`(seed: UInt64) throws {
        var generator = QueryGenerator(seed: seed)
        for number in 0..<60 {
            let items = (0..<40).map { generator.item($0) }
            let query = generator.query()
            let discarded = Set(query.apply(to: items).items.map { Array($0.id.utf8) })
            let left = items.filter { !discarded.contains(Array($0.id.utf8)) }
            let count = try store.write { transaction in
                try transaction.deleteItems(matching: TableQuery("Thing"))
                try transaction.upsert(items, in: "Thing")
                return try transaction.deleteItems(matching: query)
            }
            #expect(count == discarded.count, "seed \(seed), query \(number): \(query)")
            try #expect(
                store.things() == TableQuery("Thing").apply(to: left), "seed \(seed), query \(number)")
        }
    }
}
