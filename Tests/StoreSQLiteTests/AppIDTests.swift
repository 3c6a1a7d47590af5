// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import Testing

/// The ids of rows that an app writes to its own table.
struct AppIDTests {
    private let database: DatabaseQueue

    init() throws { database = try DatabaseQueue() }

    /// Opens a store on a new table with a row `good`.
    private func store(idType: String = "TEXT") throws -> SQLiteStore {
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(id \(idType) PRIMARY KEY, name TEXT);
                    INSERT INTO T VALUES ('good', 'y')
                    """)
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("name", .text)])
        return try SQLiteStore(database: database, tables: [table])
    }

    @Test(
        arguments: [
            ("TEXT", "x'00ff0a'"), ("BLOB", "x'00ff0a'"), ("BLOB", "x''"), ("BLOB", "7"), ("BLOB", "1.5"),
            ("TEXT", "NULL"), ("BLOB", "NULL"), ("TEXT", "CAST(x'e9' AS TEXT)"),
        ])
    func `an id that is not text is unreadable, and other rows can be read`(type: String, id: String) throws {
        let store = try store(idType: type)
        try database.write { try $0.execute(sql: "INSERT INTO T(id, name) VALUES (\(id), 'x')") }
        let (table, names) = (TableQuery("T"), ["'id'", "'T'", " \(id),", "databaseUUIDEncodingStrategy"])
        try store.read { snapshot in
            expectStoreError(.corrupt, naming: names) { try snapshot.items(matching: table) }
            expectStoreError(.corrupt, naming: names) {
                try snapshot.forEachRow(matching: table, columns: ["name"]) { _ in }
            }
            let (item, others) = (
                try snapshot.item(id: "good", in: "T"),
                try snapshot.items(matching: table.where(.column("name") == "y"))
            )
            #expect(item?["name"] == "y" && others.items.count == 1)
        }
    }

    @Test func `an id that is not text does not prevent a change of the columns`() throws {
        try store().close()
        try database.write {
            try $0.execute(
                sql: "INSERT INTO T(id, name) VALUES (CAST(x'f0' AS TEXT), 'x'), (x'f0', 'x'), (NULL, 'x')")
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [])
        let changed = try SQLiteStore(database: database, tables: [table])
        let item = try changed.read { try $0.item(id: "good", in: "T") }
        #expect(item?.system.undeclared == ["name": "y"])
    }

    @Test func `a row whose UUID is a BLOB is not enqueued`() async throws {
        let store = try store()
        try await database.write { try BlobRecord(id: UUID()).insert($0) }
        let url = try #require(URL(string: "https://example.com"))
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        let error = await #expect(throws: SyncError.self) {
            try await context.enqueueExisting(TableQuery("T"))
        }
        #expect(error?.code == .storeFailure)
        #expect(try await context.pendingOperationCount() == 0)
        try await context.close()
    }

    @Test func `a row whose UUID is text can be found`() throws {
        let store = try store()
        let record = TextRecord(id: UUID())
        try database.write { try record.insert($0) }
        try store.read { snapshot in
            let id = record.id.uuidString
            let items = try snapshot.items(matching: TableQuery("T")).items
            let item = try snapshot.item(id: id, in: "T")
            #expect(item != nil && Set(items.map(\.id)) == ["good", id])
        }
    }
}

/// A record with GRDB's default form of a UUID.
private struct BlobRecord: Codable, PersistableRecord {
    static let databaseTableName = "T"
    var id: UUID
}

private struct TextRecord: Codable, PersistableRecord {
    static let databaseTableName = "T"
    var id: UUID

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }
}
