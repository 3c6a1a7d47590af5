// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TableServer

/// The same rows of one table in each database.
struct RowsOnEachStorage {
    private let sqlite: StorageWithRows
    #if os(Linux) || os(macOS)
        private let postgreSQL: PostgreSQLWithRows
    #endif

    init(_ rows: [TableRow]) throws {
        sqlite = try StorageWithRows(rows)
        #if os(Linux) || os(macOS)
            postgreSQL = try PostgreSQLWithRows(rows)
        #endif
    }

    /// Returns the rows as SQLite stores them.
    func rows() throws -> [TableRow] { try sqlite.read { try $0.allRows() } }

    /// Expects that the body returns true for each database.
    func check(
        _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (any RowReader) throws -> Bool
    ) throws {
        #expect(try sqlite.read(body), "SQLite: \(comment)", sourceLocation: sourceLocation)
        #if os(Linux) || os(macOS)
            #expect(try postgreSQL.read(body), "PostgreSQL: \(comment)", sourceLocation: sourceLocation)
        #endif
    }
}

extension RowReader {
    /// Returns the ids of the rows that match the filter, also tombstones, in the order of insertion.
    func matches(_ filter: ODataExpression) throws -> [String] {
        let query = RowQuery(filter: filter, ordering: [], includesDeleted: true)
        return try rows(query, offset: 0, limit: nil).map(\.id)
    }
}
