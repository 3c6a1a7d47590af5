// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// Files and names that another program has made to attack the program or its terminal.
@Suite struct ChangedFileTests {
    /// A query without end, with the columns of system tables and of items.
    private static let endlessRows = """
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)
        SELECT x||'' AS id, x||'' AS "table", x||'' AS keyType, x||'' AS "key", '' AS value, 0 AS tableKind,
          x AS operationId, '' AS itemId, '' AS properties, NULL AS "rows", NULL AS createdAt,
          NULL AS updatedAt, NULL AS version, NULL AS "$supersededVersions", NULL AS "$marks",
          NULL AS "$undeclared", NULL AS title FROM c
        """

    /// SQLite ignores the case of the kind.
    @Test(
        arguments: ["MS_TableConfig", "MS_TableOperations", "MS_TableOperationErrors", "Board"],
        ["view", "VIEW"])
    func `an endless view in place of a table is refused`(name: String, kind: String) async throws {
        let store = StoreFixture(.sqlite)
        try store.make()
        let queue = try DatabaseQueue(path: store.path())
        let sql = """
            DROP TABLE \(name); CREATE VIEW \(name) AS \(Self.endlessRows);
            PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = '\(kind)' WHERE name = '\(name)'
            """
        try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
        let run = try await Inspection.run(store.path())
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("'\(name)' is a view, not a table."), "\(run.errors)")
    }

    @Test func `a virtual table in place of a table is refused`() async throws {
        let store = StoreFixture(.sqlite)
        try store.make()
        let queue = try DatabaseQueue(path: store.path())
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "DROP TABLE Board; CREATE VIRTUAL TABLE Board USING fts5(id, title)")
        }
        try queue.close()
        let run = try await Inspection.run(store.path())
        #expect(run.status == 1)
        #expect(run.errors.contains("'Board' is a virtual table"), "\(run.errors)")
    }

    @Test func `error messages have no control characters`() async throws {
        let store = StoreFixture(.sqlite)
        let run = try await Inspection.run(store.path("no\u{1B}[2J\u{202E}such"))
        #expect(run.status == 1)
        #expect(run.errors.contains("no\u{FFFD}[2J\u{FFFD}such"), "\(run.errors)")
        for scalar: Unicode.Scalar in ["\u{1B}", "\u{202E}"] {
            #expect(!run.errors.unicodeScalars.contains(scalar))
        }
    }

    /// The Kelvin sign is canonically equivalent to the letter K.
    @Test func `a column whose name is only canonically equivalent is another one`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("own.db"))
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "CREATE TABLE Board(id TEXT PRIMARY KEY, Kind TEXT NOT NULL DEFAULT '')")
        }
        let table = SyncTableDefinition("Board", columns: [SyncColumn("Kind", .text)])
        let store = try SQLiteStore(database: queue, tables: [table])
        try store.write { try $0.upsert([Item(id: "a", fields: ["Kind": "x"])], in: "Board") }
        try store.close()
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "ALTER TABLE Board ADD COLUMN \"\u{212A}ind\" TEXT NOT NULL DEFAULT ''")
        }
        try queue.close()
        #expect(try await Inspection.report(of: directory.file("own.db")).tables.map(\.rows) == [1])
    }
}
