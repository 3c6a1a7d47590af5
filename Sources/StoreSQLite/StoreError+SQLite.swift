// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

extension StoreError {
    /// The store's word for what SQLite says.
    init(_ error: DatabaseError) {
        let (code, sentence): (Code, String) =
            switch error.resultCode {
            case .SQLITE_FULL:
                (.full, "There is no room left for the database.")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
                (.corrupt, "The file is damaged, or is no SQLite database.")
            case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
                (.cannotOpen, "The database cannot be opened for reading and writing.")
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                (.alreadyOpen, "The database is in use elsewhere and did not become free in time.")
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
                (.schemaMismatch, "The table refuses the values; it was not made by this store.")
            case .SQLITE_TOOBIG, .SQLITE_RANGE:
                (.unsupported, "A value or a query is larger than SQLite accepts.")
            case .SQLITE_MISUSE:
                (.closed, "The database connection is closed.")
            case .SQLITE_ERROR where error.isLimit:
                (.unsupported, "The query is larger or nested deeper than SQLite accepts.")
            case .SQLITE_ERROR, .SQLITE_SCHEMA:
                (.corrupt, "The tables are not those that this store made.")
            default:
                (.inputOutput, "The database could not read or write.")
            }
        self.init(code, sentence, cause: error)
    }

    /// Puts errors of the database into the store's words; other errors stay as they are.
    static func translated(_ error: any Error) -> any Error {
        if let error = error as? DatabaseError { StoreError(error) } else { error }
    }
}

extension StoreError {
    /// The error, with the item that a constraint of the table refuses.
    func naming(itemID: String, table: String) -> StoreError {
        guard let cause = cause as? DatabaseError, cause.resultCode == .SQLITE_CONSTRAINT else { return self }
        return StoreError(
            code,
            "The table '\(table)' refuses the item '\(itemID)': \(cause.message ?? "a constraint failed").",
            cause: cause)
    }
}

extension DatabaseError {
    /// SQLite has no codes of its own for a statement that goes beyond its limits.
    fileprivate var isLimit: Bool {
        let message = message ?? ""
        return ["too many", "too large", "stack overflow"].contains { message.contains($0) }
    }
}
