// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization
    import SyncCore
    import TestSupport

    @testable import TableServer
    @testable import TableServerPostgreSQL

    /// A schema without tables on the PostgreSQL server of the tests.
    struct PostgreSQLDatabase {
        let connection: String
        private let schema: String

        init() throws {
            let server = try PostgreSQLServer.shared.get()
            schema = try server.newSchema()
            connection = server.connection(schema: schema)
        }

        /// Ends all other connections, as an administrator does.
        func endConnections() throws {
            try connect().run(
                """
                SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                WHERE application_name = '\(schema)' AND pid <> pg_backend_pid()
                """)
        }

        /// Returns when a statement waits for a lock.
        func waitForBlockedStatement() async throws {
            let isCancelled = Mutex(false)
            try await withTaskCancellationHandler {
                try await onThread {
                    let connection = try connect()
                    while try connection.run(
                        """
                        SELECT count(*), pg_sleep(0.01) FROM pg_stat_activity
                        WHERE application_name = '\(schema)' AND wait_event_type = 'Lock'
                        """
                    ).integer(0, 0) == 0 {
                        guard !isCancelled.withLock(\.self) else { throw CancellationError() }
                    }
                }
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
        }

        /// Cancels the statements that wait for a lock, as an administrator does.
        func cancelBlockedStatements() throws {
            try connect().run(
                """
                SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                WHERE application_name = '\(schema)' AND wait_event_type = 'Lock'
                """)
        }

        /// Runs the body while the server does not respond on any other connection and keeps them open.
        func whileConnectionsHang(_ body: () async throws -> Void) async throws {
            let result = try connect().run(
                """
                SELECT pid FROM pg_stat_activity
                WHERE application_name = '\(schema)' AND pid <> pg_backend_pid()
                """)
            let processes = (0..<result.rowCount).map { pid_t(result.integer($0, 0)) }
            for process in processes { kill(process, SIGSTOP) }
            defer { for process in processes { kill(process, SIGCONT) } }
            try await body()
        }

        func connect() throws -> PostgreSQLConnection {
            try PostgreSQLConnection(PostgreSQLParameters(connection, limits: nil))
        }
    }

    /// A database with rows of one table.
    struct PostgreSQLWithRows {
        let scope = RowScope(table: TableServer.Table("TodoItem"))
        let database: PostgreSQLDatabase
        private let connection: PostgreSQLConnection
        private let settings = RowStampSettings(TableServer.Configuration(tables: []))

        init(_ rows: [TableRow]) throws {
            database = try PostgreSQLDatabase()
            connection = try database.connect()
            try PostgreSQLSchema(connection).open(tables: [scope.table.key])
            let writer = try PostgreSQLRows(writing: connection, scope, settings, PostgreSQLOptions())
            try writer.commit {
                for var row in rows {
                    row.sequence = 0
                    try writer.put(row)
                }
            }
        }

        func read<Result>(_ body: (PostgreSQLRows) throws -> Result) throws -> Result {
            let rows = try PostgreSQLRows(reading: connection, scope, settings)
            return try rows.commit { try body(rows) }
        }
    }
#endif
