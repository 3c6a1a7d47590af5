// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreSQLite
import SyncCore
import Testing

/// Foreign keys of an app that refer to a synced table.
struct AppForeignKeyTests {
    @Test func `a row that a foreign key protects from deletion is named in the error`() throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE T(id TEXT PRIMARY KEY);
                    CREATE TABLE mine(id INTEGER PRIMARY KEY, item TEXT REFERENCES T(id));
                    INSERT INTO T VALUES ('free'), ('used');
                    INSERT INTO mine(item) VALUES ('used')
                    """)
        }
        let table = SyncCore.SyncTableDefinition("T", columns: [])
        let store = try SQLiteStore(database: database, tables: [table])
        expectStoreError(.schemaMismatch, naming: ["'T'", "'used'", "FOREIGN KEY"]) {
            try store.write { try $0.deleteItems(ids: ["free", "used"], in: "T") }
        }
        let items = try store.read { try $0.items(matching: TableQuery("T")).items }
        #expect(items.map(\.id) == ["free", "used"])
    }
}
