// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer

/// Rows in a PostgreSQL database that several servers can use at the same time.
final class PostgreSQLRowStorage: RowStorage {
    private let pool: ConnectionPool
    /// For calls that do not wait for the requests that use the connections of the pool: the check of readiness, and those that
    /// block their thread.
    private let separateWorker: PostgreSQLWorker
    private let readiness = SharedCheck(maxAge: .seconds(5))
    private let settings: RowStampSettings
    private let options: PostgreSQLOptions
    let changes = TableChanges()

    var hasUnreportedChanges: Bool { true }

    /// - Throws: ``/TableServer/TableServerError`` when the database cannot be opened, or has a newer format.
    init(
        _ connection: String, maxConnections: Int, tables: [TableServer.Table], settings: RowStampSettings,
        options: PostgreSQLOptions
    ) async throws(TableServerError) {
        let parameters = try PostgreSQLParameters(connection, limits: options.timeLimits)
        guard maxConnections > 0 else {
            throw TableServerError(
                .configuration, "The setting 'maxConnections' cannot be \(maxConnections).")
        }
        pool = ConnectionPool(parameters, size: maxConnections)
        separateWorker = PostgreSQLWorker(parameters)
        self.settings = settings
        self.options = options
        do {
            // A migration can take long.
            try await PostgreSQLWorker(PostgreSQLParameters(connection, limits: nil)).run { worker in
                defer { worker.disconnect() }
                try PostgreSQLSchema(worker.connected()).open(tables: tables.map(\.key))
            }
            // If the database does not permit this connection, the server does not start.
            try await separateWorker.run { _ = try $0.connected() }
        } catch {
            pool.close()
            separateWorker.disconnect()
            throw error as? TableServerError
                ?? TableServerError(.storage, "The database cannot be opened: \(error)", cause: error)
        }
    }

    func read<Result: Sendable>(
        _ scope: RowScope, hasSeveralStatements: Bool,
        _ body: @escaping @Sendable (any RowReader) throws -> Result
    ) async throws -> Result {
        try await run(.read) { [settings] connection, _ in
            try Self.read(connection, scope, settings, hasSeveralStatements: hasSeveralStatements, body)
        }
    }

    func readNow<Result>(_ scope: RowScope, _ body: (any RowReader) throws -> Result) throws -> Result {
        try requireOpen()
        return try separateWorker.runNow { worker in
            try Self.attempt(on: worker) { connection, _ in
                try Self.read(connection, scope, settings, body)
            }
        }
    }

    func write<Result: Sendable>(
        _ scope: RowScope, _ body: @escaping @Sendable (any RowWriter) throws -> Result
    ) async throws -> Result {
        // The time before a connection is free counts: otherwise the waits for it and for the locks would add up.
        let deadline = options.timeLimits.map { $0.now() + $0.lock }
        let result = try await run(.write) { [settings, options] connection, attempt in
            let rows = try PostgreSQLRows(
                writing: connection, scope, settings, options, lockDeadline: deadline,
                locksFirst: attempt > 1)
            return try rows.commit { try body(rows) }
        }
        changes.signal(scope)
        return result
    }

    func lastChanges() async throws -> [String: String] {
        try await run(.read) { connection, _ in
            let result = try connection.execute("SELECT tableKey, updatedAt FROM serverStamp")
            let times = (0..<result.rowCount).map { (result.text($0, 0), result.text($0, 1)) }
            return Dictionary(times) { _, new in new }
        }
    }

    func check() async throws { try await run(.read) { connection, _ in try Self.check(connection) } }

    func checkReadiness() async throws {
        try await readiness.run { [self] in
            try await separateWorker.run { [self] worker in
                try requireOpen()
                try Self.attempt(on: worker) { connection, _ in try Self.check(connection) }
            }
        }
    }

    private static func check(_ connection: PostgreSQLConnection) throws {
        try connection.execute("SELECT format FROM serverFormat")
    }

    func interrupt() {
        pool.interrupt()
        separateWorker.interrupt()
    }

    func close() {
        pool.close()
        separateWorker.disconnect()
    }

    private func requireOpen() throws(TableServerError) {
        if pool.isClosed { throw TableServerError(.storage, "The server has stopped.") }
    }

    /// A single statement sees a snapshot. A body that needs more than that runs in a transaction.
    private static func read<Result>(
        _ connection: PostgreSQLConnection, _ scope: RowScope, _ settings: RowStampSettings,
        hasSeveralStatements: Bool = false, _ body: (any RowReader) throws -> Result
    ) throws -> Result {
        if !hasSeveralStatements {
            do {
                return try body(PostgreSQLRows(readingOnce: connection, scope, settings))
            } catch is PostgreSQLRows.NeedsTransaction {}
        }
        let rows = try PostgreSQLRows(reading: connection, scope, settings)
        return try rows.commit { try body(rows) }
    }

    private static let maxAttempts = 6

    private func run<Result: Sendable>(
        _ use: ConnectionPool.Use,
        _ body: @escaping @Sendable (_ connection: PostgreSQLConnection, _ attempt: Int) throws -> Result
    ) async throws -> Result {
        try requireOpen()
        let limit = options.timeLimits.map { use == .write ? $0.lock : $0.read }
        do {
            return try await pool.run(use, waitingAtMost: limit) { worker in
                try Self.attempt(on: worker, body)
            }
        } catch let error as PostgreSQLError {
            throw error.response ?? error
        }
    }

    /// Runs the body on a connection; again after a conflict with another transaction, and once more on a new connection if
    /// the connection is lost.
    private static func attempt<Result>(
        on worker: PostgreSQLWorker,
        _ body: (_ connection: PostgreSQLConnection, _ attempt: Int) throws -> Result
    ) throws -> Result {
        var (attempt, hasReconnected) = (1, false)
        while true {
            do { return try body(worker.connected(), attempt) } catch let error as PostgreSQLError {
                if error.isLost { worker.disconnect() }
                if error.isConflict, attempt < maxAttempts {
                    attempt += 1
                } else if error.isLost, !error.isOutcomeUnknown, !hasReconnected {
                    hasReconnected = true
                } else {
                    throw error.response ?? error
                }
            }
        }
    }
}

/// A dump of the server contains no rows, and no values of requests.
extension PostgreSQLRowStorage: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
