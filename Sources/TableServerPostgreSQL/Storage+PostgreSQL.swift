// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import TableServer

extension TableServer.Storage {
    /// In a PostgreSQL database with the encoding UTF-8, version 14 or later. Several servers on several machines can use it
    /// at the same time.
    ///
    /// The server creates its tables and functions in the first schema of the user's search path, where it needs the right to
    /// do so. The names of tables have at most 48 characters. A pooler between server and database must not share a
    /// connection between transactions.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq, such as `postgresql://user@host/database` or `host=… dbname=…`. A
    ///     password in it is not revealed by errors, logs and dumps; libpq also reads `~/.pgpass` and `PGPASSWORD`.
    ///   - maxConnections: The greatest number of connections at the same time. Requests wait for one.
    public static func postgreSQL(_ connection: String, maxConnections: Int = 10) -> TableServer.Storage {
        postgreSQL(connection, maxConnections: maxConnections, PostgreSQLOptions())
    }

    package static func postgreSQL(
        _ connection: String, maxConnections: Int = 10, _ options: PostgreSQLOptions
    ) -> TableServer.Storage {
        .database(
            RowDatabase(identity: "\(maxConnections) \(connection)") {
                tables, settings throws(TableServerError) in
                try await PostgreSQLRowStorage(
                    connection, maxConnections: maxConnections, tables: tables, settings: settings,
                    options: options)
            })
    }
}

/// What only tests change.
package struct PostgreSQLOptions: Sendable {
    /// Whether a change takes its time under a lock that is held until the commit. Without it, a client can miss the change
    /// of a transaction that commits late.
    package var locksStamps = true
    /// The limits on the times of calls; `nil` for no limits.
    package var timeLimits: PostgreSQLTimeLimits? = PostgreSQLTimeLimits()
    /// Runs before the commit of each write.
    package var beforeCommit: (@Sendable () -> Void)?

    package init() {}
}
