// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// All rows of the server: read from memory, written to memory and the journal, if any.
///
/// A write decides and changes in one atomic step, so of two requests with the same `If-Match` only the first succeeds.
final class RowStore: Sendable {
    private let tables: Mutex<[String: TableRows]>
    private let journal: RowJournal?

    init(tables: [TableServer.Table], journal: RowJournal?) throws {
        var rows: [String: TableRows] = [:]
        for table in tables { rows[table.key] = TableRows(table: table) }
        try journal?.load { tableKey, row in rows[tableKey]?.apply(.put(row)) }
        self.tables = Mutex(rows)
        self.journal = journal
    }

    /// Runs the body on the rows of a table. Returns `nil` when the table does not exist.
    func read<Result: Sendable>(
        _ tableKey: String, _ body: (borrowing TableRows) throws -> Result
    ) rethrows -> Result? {
        try tables.withLock { tables in
            guard let rows = tables[tableKey] else { return nil }
            return try body(rows)
        }
    }

    /// The result of a write, and its changes.
    typealias Decision<Result> = (result: Result, changes: [TableRows.Change])

    /// Decides on the rows of a table and makes the changes. Returns `nil` when the table does not exist.
    func write<Result: Sendable>(
        _ tableKey: String, _ decide: @escaping @Sendable (borrowing TableRows) throws -> Decision<Result>
    ) async throws -> Result? {
        guard let journal else {
            return try tables.withLock { tables in
                guard let decision = try tables[tableKey].map(decide) else { return nil }
                for change in decision.changes { tables[tableKey]?.apply(change) }
                return decision.result
            }
        }
        // The journal runs one writer at a time, so the rows do not change between the decision and its changes.
        return try await journal.write { [self] persist in
            guard let decision = try read(tableKey, decide) else { return nil }
            try persist(tableKey, decision.changes)
            tables.withLock { tables in
                for change in decision.changes { tables[tableKey]?.apply(change) }
            }
            return decision.result
        }
    }

    /// Checks that the rows can be read.
    func check() throws { try journal?.check() }

    func close() {
        journal?.close()
    }
}
