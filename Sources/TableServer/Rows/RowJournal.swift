// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore

/// The SQLite file of the rows: read at start, written in one durable transaction per request.
final class RowJournal: Sendable {
    private let queue: DatabaseQueue

    /// Opens or creates the file.
    ///
    /// - Throws: ``TableServerError`` when it cannot be opened, is in use by another server, or has a newer format.
    init(path: String) throws(TableServerError) {
        do {
            var configuration = GRDB.Configuration()
            configuration.label = "TableServer"
            configuration.prepareDatabase { database in
                // The rows in memory are authoritative while the server runs, so no other process may change the file.
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let migrator = Self.migrator
            let isNewer = try queue.write { database in
                try migrator.hasBeenSuperseded(database)
            }
            guard !isNewer else {
                throw TableServerError(
                    .storage, "The file '\(path)' was written by a newer version of the server.")
            }
            try migrator.migrate(queue)
        } catch let error as TableServerError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw TableServerError(.storage, "The file '\(path)' is in use by another server.", cause: error)
        } catch {
            throw TableServerError(.storage, "The file '\(path)' cannot be opened: \(error)", cause: error)
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
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
                    CREATE INDEX serverRowBySequence ON serverRow (tableKey, sequence);
                    """)
        }
        return migrator
    }

    /// Calls the body with every row and the key of its table, in the order of insertion.
    func load(_ body: (String, TableRow) -> Void) throws {
        try queue.read { database in
            let cursor = try Row.fetchCursor(
                database, sql: "SELECT * FROM serverRow ORDER BY tableKey, sequence")
            while let record = try cursor.next() {
                body(record["tableKey"], try TableRow(record))
            }
        }
    }

    /// Writes the changes of one table in one transaction.
    typealias Persist = (_ tableKey: String, _ changes: [TableRows.Change]) throws -> Void

    /// Runs the body on the database's queue, exclusively; each call of `persist` is one transaction.
    func write<Result: Sendable>(_ body: @escaping @Sendable (Persist) throws -> Result) async throws
        -> Result
    {
        try await queue.writeWithoutTransaction { database in
            try body { tableKey, changes in
                try database.inTransaction {
                    for change in changes { try Self.persist(change, tableKey: tableKey, in: database) }
                    return .commit
                }
            }
        }
    }

    private static func persist(
        _ change: TableRows.Change, tableKey: String, in database: Database
    ) throws {
        switch change {
        case .put(let row):
            let statement = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO serverRow
                        (tableKey, id, sequence, revision, createdAt, updatedAt, deleted, fields)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            try statement.execute(arguments: [
                tableKey, row.id, row.sequence, row.revision, row.createdAt.description,
                row.updatedAt.description, row.deleted,
                String(decoding: ItemValue.object(row.fields).json, as: UTF8.self),
            ])
        case .remove(let key):
            try database.cachedStatement(sql: "DELETE FROM serverRow WHERE tableKey = ? AND id = ?")
                .execute(arguments: [tableKey, key.id])
        }
    }

    /// Checks that the file can be read.
    func check() throws {
        // A read of a queue that is closed is not safe; this one throws.
        try queue.writeWithoutTransaction { database in
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
        }
    }

    func close() {
        // Closing fails while a read is active; the file is then closed when the queue is deallocated. No data is lost.
        try? queue.close()
    }
}

extension TableRow {
    fileprivate init(_ record: Row) throws {
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
