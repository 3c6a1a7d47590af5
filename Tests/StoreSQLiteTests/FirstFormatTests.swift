// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// Files and databases of format 1, which has no column for undeclared values.
struct FirstFormatTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let definition = SyncCore.SyncTableDefinition(
        "T", columns: [SyncCore.SyncColumn("text", .text), SyncCore.SyncColumn("count", .integer)])

    private static let table = """
        CREATE TABLE "T" (
          "id" TEXT PRIMARY KEY NOT NULL, "createdAt" DATETIME TEXT, "updatedAt" DATETIME TEXT,
          "version" TEXT, "$supersededVersions" JSON TEXT, "$marks" TEXT, "text" TEXT, "count" INTEGER
        );
        INSERT INTO "T" VALUES ('1', NULL, NULL, 'v', NULL, 'count', 'old', NULL);
        CREATE TABLE "MS_TableOperations" (
          "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "table" TEXT NOT NULL,
          "tableKind" INTEGER NOT NULL DEFAULT 0, "itemId" TEXT NOT NULL, "properties" JSON TEXT NOT NULL
        );
        INSERT INTO "MS_TableOperations" VALUES (3, 'T', 0, '1',
          '{"base":{"fields":{"gone":"x","text":"older"},"id":"1","version":"v"},"kind":"update","state":"pending"}');
        CREATE TABLE "MS_TableConfig" (
          "id" INTEGER PRIMARY KEY NOT NULL, "table" TEXT NOT NULL, "keyType" TEXT NOT NULL,
          "key" TEXT NOT NULL, "value" TEXT NOT NULL, UNIQUE("table", "keyType", "key")
        );
        """

    private func expectUpgraded(_ store: SQLiteStore) throws {
        let old = Item(
            id: "1", fields: ["text": "old", "count": nil], system: SystemProperties(version: "v"))
        try store.read { snapshot in
            #expect(try snapshot.item(id: "1", in: "T") == old)
            let base = try snapshot.operation(id: 3)?.base
            #expect(base?.fields == ["text": "older"])
            #expect(base?.system.undeclared == ["gone": "x"])
        }
        let new = Item(id: "2", system: SystemProperties(undeclared: ["x": [1]]))
        try store.write { try $0.upsert([new], in: "T") }
        try #expect(store.read { try $0.item(id: "2", in: "T") } == new)
    }

    @Test func `a file of the first format is upgraded once`() throws {
        let queue = try DatabaseQueue(path: directory.file())
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: Self.table + "PRAGMA application_id = 1400467043; PRAGMA user_version = 1")
        }
        try queue.close()
        for _ in 0..<2 {
            let store = try SQLiteStore(path: directory.file(), tables: [Self.definition])
            try expectUpgraded(store)
            try store.close()
        }
        let again = try DatabaseQueue(path: directory.file())
        try #expect(again.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 3)
        try again.close()
    }

    @Test func `an app's database of the first format is upgraded too`() throws {
        let pool = try DatabasePool(path: directory.file())
        try pool.write { database in
            try database.execute(
                sql: Self.table + """
                    INSERT INTO "MS_TableConfig"("table","keyType","key","value")
                    VALUES ('', 'format', 'version', '1')
                    """)
        }
        for _ in 0..<2 { try expectUpgraded(SQLiteStore(database: pool, tables: [Self.definition])) }
        let version = try pool.read {
            try String.fetchAll($0, sql: "SELECT value FROM MS_TableConfig WHERE keyType='format'")
        }
        #expect(version == ["3"])
    }
}
