// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer

// SyncCore has a type of this name too.
import struct TableServer.StoredRow

/// The rows of one table, in a transaction or for a single statement.
final class PostgreSQLRows: RowReader {
    let connection: PostgreSQLConnection
    let scope: RowScope
    let settings: RowStampSettings
    let options: PostgreSQLOptions
    var cachedColumns = ColumnNames()
    private var lockDeadline: ContinuousClock.Instant?
    private var mode: Mode

    private enum Mode {
        /// No transaction: one statement that reads rows can be run.
        case once
        /// The statement was run.
        case done
        case reading, writing
    }

    /// A body that has no transaction needs one.
    struct NeedsTransaction: Error {}

    /// Runs a body that reads rows with a single statement; for any other one it throws ``NeedsTransaction``.
    init(
        readingOnce connection: PostgreSQLConnection, _ scope: RowScope, _ settings: RowStampSettings
    ) throws {
        (self.connection, self.scope, self.settings) = (connection, scope, settings)
        (options, mode) = (PostgreSQLOptions(), .once)
        try validateOwner()
    }

    /// Begins a transaction that reads one snapshot.
    init(reading connection: PostgreSQLConnection, _ scope: RowScope, _ settings: RowStampSettings) throws {
        (self.connection, self.scope, self.settings) = (connection, scope, settings)
        (options, mode) = (PostgreSQLOptions(), .reading)
        try validateOwner()
        try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Begins a transaction that writes. Its statements see what others have committed.
    ///
    /// - Parameters:
    ///   - lockDeadline: when its waits for locks end; `nil` for no limit but the connection's.
    ///   - locksFirst: whether it takes the lock of the table before it reads anything: no transaction of another server
    ///     then adds the same columns or inserts the same row.
    init(
        writing connection: PostgreSQLConnection, _ scope: RowScope, _ settings: RowStampSettings,
        _ options: PostgreSQLOptions, lockDeadline: ContinuousClock.Instant? = nil, locksFirst: Bool = false
    ) throws {
        (self.connection, self.scope, self.settings) = (connection, scope, settings)
        (self.options, self.lockDeadline, mode) = (options, lockDeadline, .writing)
        try validateOwner()
        let lock = locksFirst ? "; \(stampLock)" : ""
        try begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \(lockLimit)" + lock)
    }

    var key: String { scope.table.key }
    var owner: String { (scope.owner ?? "").escapedForPostgreSQL }

    /// The statement that locks the table's stamp until the commit, and reads it.
    var stampLock: String { "SELECT updatedAt FROM serverStamp WHERE tableKey = '\(key)' FOR UPDATE" }

    /// The statement that limits the wait for each of the next locks to the time that is left; empty without a limit. It runs
    /// again before the lock of the stamp, so that the waits do not add up.
    var lockLimit: String {
        guard let lockDeadline, let limits = options.timeLimits else { return "" }
        let rest = lockDeadline - limits.now()
        return "SET LOCAL lock_timeout TO \(rest.settingInMilliseconds)"
    }

    /// The entries of an index have a size limit.
    private static let maxOwnerLength = 1000

    private func validateOwner() throws {
        guard (scope.owner ?? "").utf8.count <= Self.maxOwnerLength else {
            throw RequestError(status: 400, message: "The user's id is too long.")
        }
    }

    /// Begins a transaction and reads the columns, in one message to the server. A key consists of letters, digits and `_`.
    private func begin(_ statement: String) throws {
        cachedColumns = ColumnNames(
            try connection.run(
                "\(statement); SELECT name FROM serverColumn WHERE tableKey = '\(key)' ORDER BY position"))
    }

    /// Runs the body, and commits; rolls back if it throws.
    func commit<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            if mode == .writing { options.beforeCommit?() }
            try commit()
            return result
        } catch {
            // The transaction also ends when the connection is lost.
            if !connection.isLost { _ = try? connection.run("ROLLBACK") }
            throw error
        }
    }

    private func commit() throws {
        let command: String
        do { command = try runCommit().command } catch {
            guard error.isLost, mode == .writing else { throw error }
            var unknown = error
            unknown.isOutcomeUnknown = true
            throw unknown
        }
        // The server rolls back a transaction of which a statement has failed, and reports no error.
        guard command == "COMMIT" else {
            throw PostgreSQLError(state: "", message: "The transaction was rolled back.", isLost: false)
        }
    }

    private func runCommit() throws(PostgreSQLError) -> PostgreSQLResult {
        guard mode == .writing, let limits = options.timeLimits else { return try connection.run("COMMIT") }
        return try connection.run("COMMIT", waitingAtMost: limits.commit)
    }

    /// - Throws: ``NeedsTransaction`` for the second statement without a transaction.
    private func useStatement() throws {
        switch mode {
        case .once: mode = .done
        case .done: throw NeedsTransaction()
        case .reading, .writing: break
        }
    }

    /// Columns are only added, so that those of the moment before the rows are read are right too; but another transaction can
    /// add one that is missing, with another spelling, between the two.
    ///
    /// - Throws: ``NeedsTransaction`` also if the query uses such a column.
    private func useStatement(for query: RowQuery) throws {
        if mode == .once, query.usesFields(notIn: cachedColumns) { throw NeedsTransaction() }
        try useStatement()
    }

    func columns() throws -> ColumnNames {
        guard mode == .once || mode == .done else { return cachedColumns }
        cachedColumns = ColumnNames(
            try connection.execute(
                "SELECT name FROM serverColumn WHERE tableKey = $1::text ORDER BY position", [key]))
        return cachedColumns
    }

    /// In a transaction that writes, no other one can change the row until the commit.
    func storedRow(_ id: String) throws -> StoredRow? {
        // No row has such an id, and a text of the database cannot contain a NUL.
        guard !id.utf8.contains(0) else { return nil }
        try useStatement()
        let lock = mode == .writing ? " FOR UPDATE" : ""
        let result = try connection.execute(
            """
            SELECT \(SQLText.rowColumns) FROM \(RowTable.rows(key))
            WHERE owner = $1::text AND id = $2::text\(lock)
            """, [owner, id])
        return result.rowCount == 0 ? nil : StoredRow(result, 0)
    }

    func rows(_ query: RowQuery, offset: Int, limit: Int?) throws -> [StoredRow] {
        try useStatement(for: query)
        var sql = SQLText(for: .postgreSQL)
        sql.append(
            select: query, in: scope, owner: scope.owner.map { _ in owner }, offset: offset, limit: limit)
        let result = try connection.execute(sql.text, sql.postgreSQLArguments)
        return (0..<result.rowCount).map { StoredRow(result, $0) }
    }

    func count(_ query: RowQuery) throws -> Int {
        try useStatement(for: query)
        var sql = SQLText(for: .postgreSQL)
        sql.append(count: query, in: scope, owner: scope.owner.map { _ in owner })
        return Int(try connection.execute(sql.text, sql.postgreSQLArguments).integer(0, 0))
    }

    func changeMark() throws -> String? {
        try useStatement()
        var sql = SQLText(for: .postgreSQL)
        sql.append(changeMarkIn: scope, owner: owner)
        let result = try connection.execute(sql.text, sql.postgreSQLArguments)
        return result.rowCount == 0 ? nil : result.text(0, 0)
    }
}

extension ColumnNames {
    /// Reads the names in the first column.
    fileprivate init(_ result: borrowing PostgreSQLResult) {
        self.init()
        for row in 0..<result.rowCount { add(result.text(row, 0)) }
    }
}

extension StoredRow {
    /// Reads a row with the columns ``/TableServer/SQLText/rowColumns``.
    fileprivate init(_ result: borrowing PostgreSQLResult, _ row: Int) {
        self.init(
            sequence: result.integer(row, 0), id: result.text(row, 1), createdAt: result.text(row, 2),
            updatedAt: result.text(row, 3), revision: result.integer(row, 4), deleted: result.bool(row, 5),
            fields: result.text(row, 6).unescapedJSONFromPostgreSQL)
    }
}
