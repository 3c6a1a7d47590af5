// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// Where a server keeps its rows: a database. Nothing is kept in the process between requests, so that several servers
/// can use one database.
///
/// Bodies run in one transaction. They are synchronous, and a body that throws changes nothing.
package protocol RowStorage: Sendable {
    /// Runs the body on a snapshot of the rows in the scope.
    ///
    /// - Parameter hasSeveralStatements: whether the body calls several functions of the reader. A storage may run a body that
    ///   does so, although this is false, a second time.
    func read<Result: Sendable>(
        _ scope: RowScope, hasSeveralStatements: Bool,
        _ body: @escaping @Sendable (any RowReader) throws -> Result
    ) async throws -> Result

    /// As `read`, but blocks the thread.
    func readNow<Result>(_ scope: RowScope, _ body: (any RowReader) throws -> Result) throws -> Result

    /// Runs the body; its changes are durable when this returns. No other write runs at the same time as a write of the
    /// same row.
    func write<Result: Sendable>(
        _ scope: RowScope, _ body: @escaping @Sendable (any RowWriter) throws -> Result
    ) async throws -> Result

    /// The changes of all tables, for change feeds.
    var changes: TableChanges { get }

    /// Whether other processes can change rows without a report to ``changes``.
    var hasUnreportedChanges: Bool { get }

    /// Returns the time of the last change of each table by its key, also of those of other processes.
    func lastChanges() async throws -> [String: String]

    /// Checks that rows can be read.
    func check() async throws

    /// Checks that rows can be read, without a wait for requests if possible.
    func checkReadiness() async throws

    /// Ends the calls in progress as far as possible: they fail, and so do those that wait. Only ``close()`` follows.
    func interrupt()

    /// Closes the database. Later calls throw, but rows in memory can still be read.
    func close()
}

extension RowStorage {
    func checkReadiness() async throws { try await check() }

    func read<Result: Sendable>(
        _ scope: RowScope, _ body: @escaping @Sendable (any RowReader) throws -> Result
    ) async throws -> Result {
        try await read(scope, hasSeveralStatements: false, body)
    }
}

/// The rows that a request can see: those of one table and one owner.
package struct RowScope: Sendable {
    package let table: TableServer.Table
    /// The user of a per-user table; empty in other tables. `nil` for the rows of all users, which can only be listed.
    package let owner: String?

    package init(table: TableServer.Table, owner: String? = "") {
        self.table = table
        self.owner = owner
    }
}

/// Reads rows in a transaction.
package protocol RowReader {
    /// The names of the columns of all rows that the table ever had.
    func columns() throws -> ColumnNames

    /// Returns the row with this id, also a tombstone.
    func storedRow(_ id: String) throws -> StoredRow?

    /// Returns the rows of a window of the query.
    func rows(_ query: RowQuery, offset: Int, limit: Int?) throws -> [StoredRow]

    /// Returns the number of rows that match the query.
    func count(_ query: RowQuery) throws -> Int

    /// Returns a text that differs after each change of the rows in the scope that an incremental pull receives; `nil` if
    /// there are no rows.
    func changeMark() throws -> String?
}

/// Reads and writes rows in a transaction.
package protocol RowWriter: RowReader {
    /// Returns the `updatedAt` of the transaction's changes: see ``RowStampSettings/stamp(after:)``.
    func stamp() throws -> Timestamp

    /// Returns the revision of a new row. It is greater than every revision of a row with the same id that was removed.
    func firstRevision() throws -> Int64

    /// Inserts a row without a sequence, or replaces the row with this sequence. Returns the row with its sequence.
    ///
    /// - Parameter old: a row of the table, whose names of fields are known as columns; `nil` for none.
    @discardableResult func put(_ row: TableRow, replacing old: TableRow?) throws -> StoredRow

    /// Removes a row.
    func remove(_ row: TableRow) throws
}

extension RowWriter {
    @discardableResult package func put(_ row: TableRow) throws -> StoredRow { try put(row, replacing: nil) }
}

extension RowReader {
    /// Returns the row with this id, also a tombstone.
    package func row(_ id: String) throws -> TableRow? { try storedRow(id).map(TableRow.init) }

    /// Returns all rows in the order of insertion.
    func allRows() throws -> [TableRow] {
        try rows(.all, offset: 0, limit: nil).map { try TableRow($0) }
    }
}
