// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logging
import SyncCore
import Synchronization

/// Rows in SQLite: in memory, or in a file that several servers can use at the same time.
final class SQLiteRowStorage: RowStorage {
    private let database: any DatabaseWriter
    /// `nil` for a database in memory.
    private let checkpoints: SQLiteCheckpoints?
    /// The connection of ``check()``, which does not wait for those that requests use; `nil` for a database in memory.
    private let checks: DatabaseQueue?
    private let settings: RowStampSettings
    private let limits: SQLiteTimeLimits
    private let keptStatements = KeptStatements()
    private let isClosed = Mutex(false)
    private let isInterrupted = Mutex(false)
    let changes = TableChanges()

    private var isInFile: Bool { checkpoints != nil }

    var hasUnreportedChanges: Bool { isInFile }

    /// Opens or creates the database, and the tables.
    ///
    /// - Parameters:
    ///   - path: the file; `nil` for a database in memory.
    ///   - limits: the limits on the times of calls.
    ///   - logger: gets a message when opening takes long.
    /// - Throws: ``TableServerError`` when the file cannot be opened, is locked, or has a newer format.
    init(
        path: String?, tables: [TableServer.Table], settings: RowStampSettings,
        limits: SQLiteTimeLimits = SQLiteTimeLimits(),
        logger: Logger = Logger(label: "TableServer") { _ in SwiftLogNoOpLogHandler() }
    ) throws(TableServerError) {
        self.limits = limits
        self.settings = settings
        let name = path ?? "in memory"
        do {
            let opening = SQLiteOpening(path: path, name: name, limits: limits, logger: logger)
            (database, checkpoints) = try opening.open(tables)
            checks = try path.map { try DatabaseQueue(path: $0, configuration: .readingOnly) }
        } catch let error as TableServerError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw TableServerError(
                .storage, "The file '\(name)' is in use by another program that locks it.", cause: error)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            throw TableServerError(.storage, "The file '\(name)' is not a SQLite database.", cause: error)
        } catch {
            let reason = path.flatMap(FileProblem.init(openingDatabase:))?.description ?? "\(error)"
            throw TableServerError(.storage, "The file '\(name)' cannot be opened: \(reason)", cause: error)
        }
    }

    func read<Result: Sendable>(
        _ scope: RowScope, hasSeveralStatements: Bool,
        _ body: @escaping @Sendable (any RowReader) throws -> Result
    ) async throws -> Result {
        try requireReadable()
        // The time before its turn counts: otherwise the reads that wait for others would take long together.
        let deadline = ReadDeadline(limits)
        do {
            return try await database.read { [self] database in
                if deadline.hasPassed || isInterrupted.withLock(\.self) {
                    throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
                }
                return try database.limitingTime(to: deadline) {
                    try body(SQLiteRows(database, scope, settings, keptStatements))
                }
            }
        } catch let error as DatabaseError {
            throw error.requestError ?? error
        }
    }

    func readNow<Result>(_ scope: RowScope, _ body: (any RowReader) throws -> Result) throws -> Result {
        try requireReadable()
        return try database.read { database in
            try body(SQLiteRows(database, scope, settings, keptStatements))
        }
    }

    func write<Result: Sendable>(
        _ scope: RowScope, _ body: @escaping @Sendable (any RowWriter) throws -> Result
    ) async throws -> Result {
        try requireOpen()
        // Writes run one after the other, so the time before the turn counts: otherwise the waits for a lock would add up.
        let deadline = limits.now() + limits.lock
        do {
            return try await database.writeWithoutTransaction { [self] database in
                if isInterrupted.withLock(\.self) { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
                let result = try database.inTransaction(waitingAtMost: deadline - limits.now()) {
                    try body(SQLiteRows(database, scope, settings, keptStatements))
                }
                // The change is committed, whatever becomes of the call or the checkpoint.
                changes.signal(scope)
                try? checkpoints?.runIfNeeded(writer: database)
                return result
            }
        } catch let error as DatabaseError {
            throw error.requestError ?? error
        }
    }

    func lastChanges() async throws -> [String: String] {
        try requireReadable()
        return try await database.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT tableKey, updatedAt FROM serverStamp")
            return Dictionary(rows.map { ($0[0], $0[1]) }) { _, new in new }
        }
    }

    func check() async throws {
        try requireOpen()
        // Rows in memory can always be read.
        guard let checks else { return }
        do {
            _ = try await checks.read { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
            }
        } catch let error as DatabaseError {
            throw error.requestError ?? error
        }
    }

    func interrupt() {
        // Also for the calls that wait.
        isInterrupted.withLock { $0 = true }
        database.interrupt()
    }

    func close() {
        guard !isClosed.withLock({ isClosed in exchange(&isClosed, with: true) }), let checkpoints else {
            return
        }
        // A copy of the file is complete without the write-ahead log. SQLite moves it into the file when the last connection is
        // closed, but not if that one only reads.
        try? database.writeWithoutTransaction { try checkpoints.run(writer: $0) }
        checkpoints.close()
        try? checks?.close()
        // Closing fails while a read is active; the file is then closed when the pool is deallocated. No data is lost.
        try? database.close()
    }

    private func requireOpen() throws(TableServerError) {
        guard !isClosed.withLock({ $0 }) else {
            throw TableServerError(.storage, "The server has stopped.")
        }
    }

    private func requireReadable() throws(TableServerError) {
        if isInFile { try requireOpen() }
    }
}

extension Configuration {
    fileprivate static var readingOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }
}

extension DatabaseError {
    /// Whether the drive has not confirmed a commit. The shared memory is written after the log.
    private var isUnconfirmed: Bool {
        switch extendedResultCode {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: true
        case .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP: sql?.hasPrefix("COMMIT") == true
        default: false
        }
    }

    /// What SQLite says of an expression that is too deep: for its parser, or with a number at the end, for its compiler.
    private static let depthMessages = ["parser stack overflow", "Expression tree is too large"]

    /// The error of a request whose client can send another one, or the same later; `nil` for all other errors.
    var requestError: RequestError? {
        switch resultCode {
        case .SQLITE_BUSY: .rowsLocked(self)
        // The next start can find the commit in the log.
        case .SQLITE_IOERR where isUnconfirmed:
            .outcomeUnknown("The drive has not confirmed the change, which may have been stored.", self)
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM: .databaseUnavailable(self)
        case .SQLITE_INTERRUPT: .tookTooLong(self)
        case .SQLITE_TOOBIG where message == SQLiteFunctions.patternTooLong.message:
            .patternTooLong
        case .SQLITE_TOOBIG where message == SQLiteFunctions.computedTextTooLong.message:
            .computedTextTooLong
        default:
            Self.depthMessages.contains { message?.hasPrefix($0) == true } ? .filterTooDeep : nil
        }
    }
}

/// A dump of the server contains no rows, and no values of requests.
extension SQLiteRowStorage: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
