// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

extension StoreError {
    /// Converts an SQLite error to a store error.
    init(_ error: DatabaseError) {
        let (code, message): (Code, String) =
            switch error.resultCode {
            case .SQLITE_IOERR where error.isUnconfirmed:
                // The next opening can find the commit in the log.
                (.outcomeUnknown, "The drive has not confirmed the change, which may be stored or not.")
            case _ where error.isDiskFull:
                (.full, "The disk or the database is full; free some space.")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
                (.corrupt, Self.damageMessage("The file"))
            case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
                (
                    .cannotOpen,
                    "The database cannot be opened for reading and writing; check the path and the file's permissions."
                )
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                (.alreadyOpen, "The database is locked by another connection; close it there and try again.")
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
                (.schemaMismatch, "A constraint of the table refuses the values.")
            case .SQLITE_TOOBIG, .SQLITE_RANGE:
                (.unsupported, "A value or a query exceeds SQLite's limits.")
            case .SQLITE_MISUSE:
                (.closed, "The database connection is closed.")
            case .SQLITE_ERROR where error.isLimit:
                (.unsupported, "The query exceeds SQLite's limits of size or depth; simplify it.")
            case .SQLITE_ERROR, .SQLITE_SCHEMA:
                (.corrupt, "The tables differ from those that this store created.")
            default:
                (.inputOutput, "SQLite cannot read or write the database file.")
            }
        self.init(code, message, cause: error)
    }

    /// Returns the store error for a GRDB error; returns other errors unchanged.
    static func translated(_ error: any Error) -> any Error {
        if let error = error as? DatabaseError { StoreError(error) } else { error }
    }

    /// Runs the body and converts GRDB's errors to store errors.
    ///
    /// - Parameter path: the file, to name it in the error of a damaged one; `nil` if it belongs to the app.
    static func translating<T>(at path: String? = nil, _ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw naming(path, in: translated(error)) }
    }
}

extension StoreError {
    private static func damageMessage(_ file: String) -> String {
        "\(file) is damaged or is not an SQLite database. Restore a copy of the file, or move it away and pull again."
    }

    /// Returns the error with the file's path if SQLite has found the file damaged; returns other errors unchanged.
    static func naming(_ path: String?, in error: any Error) -> any Error {
        guard let path, let failure = error as? StoreError, failure.message == damageMessage("The file")
        else { return error }
        return StoreError(failure.code, damageMessage("'\(path)'"), cause: failure.cause)
    }
}

extension StoreError {
    /// Returns the error with the item whose change a constraint refused.
    ///
    /// The app's deferred foreign keys are checked at the commit, whose error names no item.
    func naming(itemID: String, table: String) -> StoreError {
        guard let cause = cause as? DatabaseError, cause.resultCode == .SQLITE_CONSTRAINT else { return self }
        return StoreError(
            code,
            "The table '\(table)' refuses the change of the item '\(itemID)': \(cause.message ?? "a constraint failed").",
            cause: cause)
    }
}

extension DatabaseError {
    /// Whether the drive has not confirmed a commit. The shared memory is written after the log.
    fileprivate var isUnconfirmed: Bool {
        switch extendedResultCode {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: true
        case .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP: sql?.hasPrefix("COMMIT") == true
        default: false
        }
    }

    /// Whether the disk or the database is full. SQLite has a separate code for the file of its shared memory.
    fileprivate var isDiskFull: Bool {
        resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE
    }

    /// Whether a statement exceeds a limit; SQLite has no result code for that.
    fileprivate var isLimit: Bool {
        let message = message ?? ""
        return ["too many", "too large", "stack overflow"].contains { message.contains($0) }
    }
}
