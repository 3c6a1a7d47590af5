// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// A hand-written app with GRDB and Codable: a table of items, and an outbox of changes that is compacted before a
/// push.
struct PeerDatabase: Sendable {
    let pool: DatabasePool

    init(path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try pool.write { database in
            try database.create(table: "item") { table in
                table.primaryKey("id", .text)
                for column in ["title", "note", "due"] { table.column(column, .text).notNull() }
                table.column("complete", .boolean).notNull()
                table.column("priority", .integer).notNull()
                table.column("price", .double).notNull()
                for column in ["createdAt", "updatedAt", "version"] { table.column(column, .text) }
            }
            try database.create(table: "outbox") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("itemId", .text).notNull()
                table.column("kind", .text).notNull()
                table.column("body", .text).notNull()
            }
            try database.create(table: "token") { table in
                table.primaryKey("name", .text)
                table.column("value", .text).notNull()
            }
        }
    }

    /// Creates an index on the column of the queries.
    func makeIndex() throws {
        try pool.write { try $0.execute(sql: "CREATE INDEX item_priority ON item(priority)") }
    }

    /// Collapses the changes of each item into one, with the kind of the first and the body of the last.
    func compact() throws -> [OutboxRecord] {
        try pool.write { database in
            let changes = try OutboxRecord.order(Column("id")).fetchAll(database)
            var compacted: [String: OutboxRecord] = [:]
            for change in changes {
                guard var first = compacted[change.itemId] else {
                    compacted[change.itemId] = change
                    continue
                }
                if first.kind == "insert", change.kind == "delete" {
                    compacted[change.itemId] = nil
                    continue
                }
                if change.kind == "delete" { first.kind = "delete" }
                first.body = change.body
                compacted[change.itemId] = first
            }
            let remaining = compacted.values.sorted { ($0.id ?? 0) < ($1.id ?? 0) }
            try OutboxRecord.deleteAll(database)
            for change in remaining { try change.insert(database) }
            return remaining
        }
    }

    func checksum() throws -> Int {
        try pool.read { database in
            let sum = try Int.fetchOne(database, sql: "SELECT coalesce(sum(priority + 1000003), 0) FROM item")
            return (sum ?? 0) + 7919 * (try OutboxRecord.fetchCount(database))
        }
    }
}

/// An item in the peer's database.
struct ItemRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    var id: String
    var title: String
    var note: String
    var complete: Bool
    var priority: Int
    var price: Double
    var due: String
    var createdAt: String?
    var updatedAt: String?
    var version: String?

    init(_ row: TodoRow) {
        id = row.id
        title = row.title
        note = row.note
        complete = row.complete
        priority = row.priority
        price = row.price
        due = row.due
    }
}

/// A pending change.
struct OutboxRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "outbox"

    var id: Int64?
    var itemId: String
    var kind: String
    var body: String

    init(_ kind: String, _ item: ItemRecord, encoder: JSONEncoder) throws {
        itemId = item.id
        self.kind = kind
        body = String(decoding: try encoder.encode(item), as: UTF8.self)
    }
}

extension PeerDatabase {
    /// Writes synced items.
    func fill(with rows: [TodoRow]) throws {
        try pool.write { database in
            for row in rows { try ItemRecord(row).insert(database) }
        }
    }

    /// Writes items with their changes in one transaction.
    func write(_ kind: String, _ rows: some Sequence<TodoRow>) throws {
        try pool.write { database in try Self.write(kind, rows, to: database) }
    }

    /// Writes one item with its change, from asynchronous code.
    func write(_ kind: String, _ row: TodoRow) async throws {
        try await pool.write { database in try Self.write(kind, CollectionOfOne(row), to: database) }
    }

    private static func write(_ kind: String, _ rows: some Sequence<TodoRow>, to database: Database) throws {
        let encoder = JSONEncoder()
        for row in rows {
            let item = ItemRecord(row)
            switch kind {
            case "insert": try item.insert(database)
            case "delete": try item.delete(database)
            default: try item.update(database)
            }
            try OutboxRecord(kind, item, encoder: encoder).insert(database)
        }
    }
}
