// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

@testable import TableServer

/// A database in memory with rows of one table.
struct StorageWithRows {
    let database: DatabaseQueue
    let scope = RowScope(table: TableServer.Table("TodoItem"))

    init(_ rows: [TableRow]) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            for function in SQLiteFunctions.all { database.add(function: function) }
        }
        database = try DatabaseQueue(configuration: configuration)
        try SQLiteSchema.migrator.migrate(database)
        try database.write { database in
            try SQLiteSchema.create(scope.table.key, in: database)
            let writer = SQLiteRows(database, scope, nil)
            for row in rows { try writer.insert(row) }
        }
    }

    func read<Result>(_ body: (SQLiteRows) throws -> Result) throws -> Result {
        try database.read { database in try body(SQLiteRows(database, scope, nil)) }
    }

    /// Returns the first column of the statement's rows.
    func ids(_ sql: SQLText) throws -> [String] {
        try database.read { database in
            try String.fetchAll(database, sql: sql.text, arguments: sql.statementArguments)
        }
    }

    /// Returns the steps of SQLite's plan for the query.
    func plan(of query: RowQuery) throws -> [String] {
        try database.read { database in
            let sql = SQLiteRows(database, scope, nil).select(query, offset: 0, limit: 50)
            return try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN " + sql.text, arguments: sql.statementArguments
            ).map { $0["detail"] }
        }
    }
}
