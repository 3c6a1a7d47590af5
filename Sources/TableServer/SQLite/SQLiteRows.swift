// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

/// The rows of one table in a transaction.
final class SQLiteRows: RowWriter {
    private let database: Database
    private let scope: RowScope
    private let settings: RowStampSettings?
    private let keptStatements: KeptStatements
    private var cachedColumns: ColumnNames?

    /// - Parameter settings: `nil` for a migration, which takes times and versions from the rows.
    init(
        _ database: Database, _ scope: RowScope, _ settings: RowStampSettings?,
        _ keptStatements: KeptStatements = KeptStatements()
    ) {
        self.keptStatements = keptStatements
        self.database = database
        self.scope = scope
        self.settings = settings
    }

    private var key: String { scope.table.key }
    private var owner: String { scope.owner ?? "" }

    func columns() throws -> ColumnNames {
        if let cachedColumns { return cachedColumns }
        var columns = ColumnNames()
        let names = try String.fetchCursor(
            database.cachedStatement(
                sql: "SELECT name FROM serverColumn WHERE tableKey = ? ORDER BY position"),
            arguments: [key])
        while let name = try names.next() { columns.add(name) }
        cachedColumns = columns
        return columns
    }

    func storedRow(_ id: String) throws -> StoredRow? {
        // No row has such an id, and SQLite would compare it up to the NUL.
        guard !id.utf8.contains(0) else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT \(SQLText.rowColumns) FROM \(RowTable.rows(key)) WHERE owner = ? AND id = ?")
        return try Row.fetchOne(statement, arguments: [owner, id]).map { StoredRow($0) }
    }

    func rows(_ query: RowQuery, offset: Int, limit: Int?) throws -> [StoredRow] {
        let sql = select(query, offset: offset, limit: limit)
        let cursor = try Row.fetchCursor(statement(sql), arguments: sql.statementArguments)
        var rows: [StoredRow] = []
        while let row = try cursor.next() { rows.append(StoredRow(row)) }
        return rows
    }

    /// Returns the statement for a window of a query.
    func select(_ query: RowQuery, offset: Int, limit: Int?) -> SQLText {
        var sql = SQLText(for: .sqlite)
        sql.append(select: query, in: scope, owner: scope.owner, offset: offset, limit: limit)
        return sql
    }

    func count(_ query: RowQuery) throws -> Int {
        var sql = SQLText(for: .sqlite)
        sql.append(count: query, in: scope, owner: scope.owner)
        return try Int.fetchOne(statement(sql), arguments: sql.statementArguments) ?? 0
    }

    private func statement(_ sql: SQLText) throws -> Statement {
        try keptStatements.statement(sql.text, on: database)
    }

    func changeMark() throws -> String? {
        var sql = SQLText(for: .sqlite)
        sql.append(changeMarkIn: scope, owner: owner)
        return try String.fetchOne(
            database.cachedStatement(sql: sql.text), arguments: sql.statementArguments)
    }
}

/// Writes.
extension SQLiteRows {
    func stamp() throws -> Timestamp {
        guard let settings else { return .unixEpoch }
        let statement = try database.cachedStatement(
            sql: "SELECT updatedAt FROM serverStamp WHERE tableKey = ?")
        let stamp = settings.stamp(after: try String.fetchOne(statement, arguments: [key]))
        try setLastStamp(stamp)
        return stamp
    }

    func setLastStamp(_ stamp: Timestamp) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO serverStamp VALUES (?, ?)")
            .execute(arguments: [key, stamp.storedText])
    }

    func firstRevision() throws -> Int64 {
        if settings?.restartsVersions == true { return 1 }
        let statement = try database.cachedStatement(
            sql: "SELECT max(revision) FROM serverRevision WHERE tableKey = ? AND owner = ? OR tableKey = ?")
        return try (Int64.fetchOne(statement, arguments: [key, owner, RowTable.everyTable]) ?? 0) + 1
    }

    @discardableResult func put(_ row: TableRow, replacing old: TableRow?) throws -> StoredRow {
        guard row.sequence != 0 else { return try insert(row) }
        try addColumns(row.names(notIn: old))
        let stored = StoredRow(row)
        try database.cachedStatement(
            sql: """
                UPDATE \(RowTable.rows(key))
                SET createdAt = ?, updatedAt = ?, revision = ?, deleted = ?, fields = ? WHERE sequence = ?
                """
        ).execute(arguments: [
            stored.createdAt, stored.updatedAt, stored.revision, stored.deleted, stored.fields, row.sequence,
        ])
        return stored
    }

    /// Inserts a row, with its sequence if it has one.
    @discardableResult func insert(_ row: TableRow) throws -> StoredRow {
        try addColumns(row.names(notIn: nil))
        var stored = StoredRow(row)
        try database.cachedStatement(
            sql: """
                INSERT INTO \(RowTable.rows(key))
                    (sequence, owner, id, createdAt, updatedAt, revision, deleted, fields)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            row.sequence == 0 ? nil : row.sequence, owner, stored.id, stored.createdAt, stored.updatedAt,
            stored.revision, stored.deleted, stored.fields,
        ])
        stored.sequence = database.lastInsertedRowID
        return stored
    }

    func remove(_ row: TableRow) throws {
        try recordRevision(row.revision)
        try database.cachedStatement(sql: "DELETE FROM \(RowTable.rows(key)) WHERE sequence = ?")
            .execute(arguments: [row.sequence])
    }

    /// Records a revision that no new row may have again.
    func recordRevision(_ revision: Int64) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO serverRevision VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET revision = max(revision, excluded.revision)
                """
        ).execute(arguments: [key, owner, revision])
    }

    /// Records the names of new columns, so that later rows use the same spelling.
    private func addColumns(_ names: [String]) throws {
        guard !names.isEmpty else { return }
        var columns = try columns()
        for name in names where columns.add(name) {
            try database.execute(
                sql: "INSERT INTO serverColumn VALUES (?, ?, ?)", arguments: [key, columns.count, name])
        }
        cachedColumns = columns
    }
}

extension StoredRow {
    fileprivate init(_ row: Row) {
        self.init(
            sequence: row[0], id: row[1], createdAt: row[2], updatedAt: row[3], revision: row[4],
            deleted: row[5], fields: row[6])
    }
}

extension SQLText {
    var statementArguments: StatementArguments {
        StatementArguments(
            arguments.map { argument in
                switch argument {
                case .integer(let value): value.databaseValue
                case .text(let text): text.databaseValue
                case .value(let value), .number(let value): value.sqliteValue
                case .json(let value): String(decoding: value.json, as: UTF8.self).databaseValue
                }
            })
    }
}
