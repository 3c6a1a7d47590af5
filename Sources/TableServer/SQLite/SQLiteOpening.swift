// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logging
import SyncCore

/// The limits on the times of calls of the storage in SQLite.
package struct SQLiteTimeLimits: Sendable {
    /// After this time, with the wait for its turn, a read fails. Reads share few connections.
    package var read = Duration.seconds(30)
    /// How long a write waits for its turn and then for the lock of another process, which commits within this time. If
    /// its turn comes later, it does not wait for a lock.
    package var lock = Duration.seconds(5)
    /// The clock of these limits. A test replaces it.
    package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// How long a start waits for another process that converts the file.
    package var conversion = Duration.seconds(600)

    package init() {}
}

/// Opens a database, and converts it if an earlier version has written it.
struct SQLiteOpening {
    /// `nil` for a database in memory.
    let path: String?
    let name: String
    let limits: SQLiteTimeLimits
    let logger: Logger

    private static let maxAttempts = 20

    /// Opens the database and migrates it.
    ///
    /// Of processes that create or migrate one file at the same time, all but one can fail: the migrator looks for the
    /// migrations to run before its transaction begins, and SQLite does not wait for the lock with which it turns on the
    /// write-ahead log. These start over, and find the file migrated. While one of them converts the file, which takes long
    /// for many rows, the others wait.
    ///
    /// - Returns: the database; the checkpoints of one in a file.
    func open(_ tables: [TableServer.Table]) throws -> (any DatabaseWriter, SQLiteCheckpoints?) {
        var (attempt, hasLogged) = (1, false)
        let conversionDeadline = ContinuousClock.now + limits.conversion
        var deadline = ContinuousClock.now + limits.lock
        while true {
            var isUnconverted = false
            do {
                let (database, checkpoints) = try openFile()
                isUnconverted = try isOld(database)
                try migrate(database, tables)
                // A conversion leaves a long log.
                try database.writeWithoutTransaction { try checkpoints?.runIfNeeded(writer: $0) }
                return (database, checkpoints)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && isUnconverted {
                guard ContinuousClock.now < conversionDeadline else {
                    throw TableServerError(
                        .storage,
                        "The file '\(name)' has the format of an earlier version, and another process has locked it for "
                            + "\(limits.conversion.components.seconds) seconds: another server that converts it, or a "
                            + "program that has it open. End that program, or start the server again later.",
                        cause: error)
                }
                if !hasLogged {
                    logger.notice(
                        "The server waits for another process that locks and probably converts its file.")
                }
                hasLogged = true
                (attempt, deadline) = (1, ContinuousClock.now + limits.lock)
            } catch let error as DatabaseError
                where [.SQLITE_BUSY, .SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode)
            {
                guard path != nil, attempt < Self.maxAttempts, ContinuousClock.now < deadline else {
                    throw error
                }
                attempt += 1
                Thread.sleep(forTimeInterval: .random(in: 0...0.1))
            }
        }
    }

    /// Whether the database has rows in the format of an earlier version.
    private func isOld(_ database: any DatabaseWriter) throws -> Bool {
        try database.read { database in
            let migrator = SQLiteSchema.migrator
            return try !migrator.appliedIdentifiers(database).isEmpty
                && !migrator.hasCompletedMigrations(database)
        }
    }

    private func migrate(_ database: any DatabaseWriter, _ tables: [TableServer.Table]) throws {
        let migrator = SQLiteSchema.migrator
        let isNewer = try database.read { database in try migrator.hasBeenSuperseded(database) }
        guard !isNewer else {
            throw TableServerError(
                .storage, "The file '\(name)' was written by a newer version of the server.")
        }
        try migrator.migrate(database)
        try database.write { database in
            for table in tables { try SQLiteSchema.create(table.key, in: database) }
        }
    }

    private func openFile() throws -> (any DatabaseWriter, SQLiteCheckpoints?) {
        var configuration = Configuration()
        configuration.label = "TableServer"
        configuration.busyMode = .timeout(limits.lock / .seconds(1))
        configuration.prepareDatabase { database in
            for function in SQLiteFunctions.all { database.add(function: function) }
        }
        guard let path else { return (try DatabaseQueue(configuration: configuration), nil) }
        // Rows are secret from other users of the machine. If the file cannot be created, SQLite reports it.
        _ = PrivateFile.create(at: path)
        try checkOwner(path)
        let pool = try DatabasePool(path: path, configuration: configuration)
        // A confirmed change survives a loss of power. GRDB chooses NORMAL for a write-ahead log.
        let checkpoints = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.flushDriveCache()
            return try SQLiteCheckpoints(path: path, writer: database)
        }
        return (pool, checkpoints)
    }

    /// Refuses the database of another program: its file would get the tables of the server, and its own migrations would
    /// be taken for those of the server.
    ///
    /// A pool turns on the write-ahead log when it opens a file. Therefore this uses another connection, which only reads.
    private func checkOwner(_ path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(limits.lock / .seconds(1))
        // Its end moves the log of a killed server into the file.
        configuration.prepareDatabase { try $0.flushDriveCache() }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        // The migrator creates its own table before the transaction of the first migration.
        let names = try database.read { database in
            try String.fetchSet(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'grdb_migrations'")
        }
        guard names.isEmpty || !names.isDisjoint(with: SQLiteSchema.ownTables) else {
            throw TableServerError(
                .storage,
                "The file '\(name)' is an SQLite database that was not created by the server; choose another path."
            )
        }
    }
}
