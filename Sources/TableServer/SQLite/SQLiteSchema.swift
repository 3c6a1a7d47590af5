// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore

/// The tables of the database: one for the rows of each table of the server, and three for all of them.
enum SQLiteSchema {
    /// Tables of which a file has one after each migration.
    static let ownTables: Set<String> = ["serverRow", "serverColumn"]

    /// Creates the database table for the rows of a table, if it does not exist.
    static func create(_ tableKey: String, in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(RowTable.rows(tableKey)) (
                    sequence INTEGER PRIMARY KEY,
                    owner TEXT NOT NULL,
                    id TEXT NOT NULL,
                    createdAt TEXT NOT NULL,
                    updatedAt TEXT NOT NULL,
                    revision INTEGER NOT NULL,
                    deleted INTEGER NOT NULL,
                    fields TEXT NOT NULL
                );
                CREATE UNIQUE INDEX IF NOT EXISTS \(RowTable.idIndex(tableKey)) ON \(RowTable.rows(tableKey)) (owner, id);
                CREATE INDEX IF NOT EXISTS \(RowTable.updateIndex(tableKey))
                    ON \(RowTable.rows(tableKey)) (owner, updatedAt, id);
                """)
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // All rows in one table. A server read it into memory when it started. Files of that format have an index too.
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE serverRow (
                        tableKey TEXT NOT NULL,
                        id TEXT NOT NULL,
                        sequence INTEGER NOT NULL,
                        revision INTEGER NOT NULL,
                        createdAt TEXT NOT NULL,
                        updatedAt TEXT NOT NULL,
                        deleted INTEGER NOT NULL,
                        fields TEXT NOT NULL,
                        PRIMARY KEY (tableKey, id)
                    );
                    """)
        }
        migrator.registerMigration("2") { database in
            let isOfFirstFormat = try database.indexes(on: "serverRow").contains { !$0.isUnique }
            try database.execute(
                sql: """
                    CREATE TABLE serverColumn (
                        tableKey TEXT NOT NULL,
                        position INTEGER NOT NULL,
                        name TEXT NOT NULL,
                        PRIMARY KEY (tableKey, position)
                    ) WITHOUT ROWID;
                    CREATE TABLE serverStamp (
                        tableKey TEXT NOT NULL PRIMARY KEY,
                        updatedAt TEXT NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE serverRevision (
                        tableKey TEXT NOT NULL,
                        owner TEXT NOT NULL,
                        revision INTEGER NOT NULL,
                        PRIMARY KEY (tableKey, owner)
                    ) WITHOUT ROWID;
                    """)
            try moveRows(in: database)
            if isOfFirstFormat {
                // The format has not kept the versions of deleted rows. No row has reached this one.
                try database.execute(
                    sql: "INSERT INTO serverRevision VALUES (?, '', ?)",
                    arguments: [RowTable.everyTable, 1 << 32])
            }
            try database.execute(sql: "DROP TABLE serverRow")
        }
        return migrator
    }

    /// Moves the rows of the first format to the tables of this one.
    private static func moveRows(in database: Database) throws {
        for key in try String.fetchAll(database, sql: "SELECT DISTINCT tableKey FROM serverRow") {
            guard key.isTableOrColumnName else { continue }
            try create(key, in: database)
            let scope = RowScope(table: TableServer.Table(key))
            let rows = SQLiteRows(database, scope, nil)
            let records = try Row.fetchCursor(
                database, sql: "SELECT * FROM serverRow WHERE tableKey = ? ORDER BY sequence",
                arguments: [key])
            var last: Timestamp?
            while let record = try records.next() {
                let row = try TableRow(firstFormat: record)
                try rows.insert(row)
                if let updatedAt = last, !updatedAt.isEarlier(than: row.updatedAt) { continue }
                last = row.updatedAt
            }
            if let last { try rows.setLastStamp(last) }
        }
    }
}

extension TableRow {
    fileprivate init(firstFormat record: Row) throws {
        let text: String = record["fields"]
        guard case .object(let fields) = try ItemValue(json: Data(text.utf8)),
            let createdAt = Timestamp(record["createdAt"]), let updatedAt = Timestamp(record["updatedAt"])
        else {
            throw TableServerError(.storage, "The file contains an unreadable row.")
        }
        self.init(
            id: record["id"], fields: fields, createdAt: createdAt, updatedAt: updatedAt,
            revision: record["revision"], deleted: record["deleted"], sequence: record["sequence"])
    }
}
