// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import Testing

/// The samples of the article "Beside GRDB".
struct BesideGRDBSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        var id: String
        var name: String
        var score: Int?
    }

    static let playerTable = SyncTableDefinition(
        "player", columns: [SyncColumn("name", .text), SyncColumn("score", .integer)])

    @Test func `an app's own records are synced`() async throws {
        let directory = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let pool = try DatabasePool(path: directory.appending(path: "app.sqlite").path())
        try await pool.write { db in
            try db.create(table: "player") { table in
                table.primaryKey("id", .text)
                table.column("name", .text).notNull()
                table.column("score", .integer)
            }
            try Player(id: "0", name: "Zoe").insert(db)
        }
        let url = try #require(URL(string: "https://example.com"))
        let client = SyncClient(url: url)

        let store = try SQLiteStore(database: pool, tables: [Self.playerTable])
        let context = SyncContext(client: client, dataSource: store)

        let queued = try await context.enqueueExisting(TableQuery("player"))

        #expect(queued == 1)

        let ann = Player(id: "1", name: "Ann", score: 3)
        try await pool.write { db in
            try ann.insert(db)
            try store.enqueueExternalChanges(in: "player", changed: [ann.id], on: db)
        }

        try await pool.write { db in
            guard let deleted = try store.item(id: "1", in: "player", on: db) else { return }
            try Player.deleteOne(db, key: "1")
            try store.enqueueExternalChanges(in: "player", deleted: [deleted], on: db)
        }

        #expect(try await context.pendingOperationCount() == 1)

        let best = try await pool.read { db in
            try Player.order(Column("score").desc).fetchOne(db)
        }

        #expect(best?.name == "Zoe")
        try await context.close()
        try pool.close()
    }
}
