// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Synchronization

/// Moves the write-ahead log into the file when it has become long.
///
/// SQLite does this by itself after a commit. But before SQLite 3.51.3, a checkpoint can damage the file if another process
/// commits at the same time, and several servers can use one file. So the writer begins a transaction, which keeps other
/// processes from committing, and a second connection runs the checkpoint: SQLite refuses it in the writer's transaction.
final class SQLiteCheckpoints: Sendable {
    private let connection: DatabaseQueue
    /// The pages of the log after the last commit. The writer's hook has a pointer to this object.
    private let pageCount = Atomic<Int>(0)

    /// From this number of pages on, the log is moved: SQLite's own default.
    static let pageLimit = 1000

    /// Replaces SQLite's own checkpoints of the writer by those of this object, which must outlast the writer.
    init(path: String, writer: Database) throws {
        connection = try DatabaseQueue(path: path)
        try connection.inDatabase { try $0.flushDriveCache() }
        let object = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            writer.sqliteConnection,
            { object, _, _, pages in
                guard let object else { return SQLITE_OK }
                let checkpoints = Unmanaged<SQLiteCheckpoints>.fromOpaque(object).takeUnretainedValue()
                checkpoints.pageCount.store(Int(pages), ordering: .relaxed)
                return SQLITE_OK
            }, object)
    }

    /// Moves a long log, unless another process writes now: then a later call does it.
    func runIfNeeded(writer: Database) throws {
        if pageCount.load(ordering: .relaxed) >= Self.pageLimit { try run(writer: writer) }
    }

    /// Moves the log, except what transactions of readers still need, unless another process writes now.
    func run(writer: Database) throws {
        sqlite3_busy_timeout(writer.sqliteConnection, 0)
        do { try writer.beginTransaction(.immediate) } catch let error as DatabaseError
            where error.resultCode == .SQLITE_BUSY
        { return }
        defer { try? writer.rollback() }
        try connection.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint") }
    }

    func close() { try? connection.close() }
}

extension Database {
    /// Lets commits and checkpoints survive a loss of power on Apple's systems too, where `fsync` does not flush the drive's
    /// cache.
    func flushDriveCache() throws {
        try execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    }
}
