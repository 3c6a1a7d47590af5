// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// A SQLite connection, used through the C API.
final class RawDatabase {
    let handle: OpaquePointer

    init(path: String, isDurable: Bool = true) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw WrongResult("SQLite cannot open '\(path)'.")
        }
        handle = opened
        // The same cache size as SQLiteStore.
        try execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=\(isDurable ? "FULL" : "NORMAL");
            PRAGMA cache_size=-16384
            """)
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
    }

    func prepare(_ sql: String) throws -> RawStatement {
        var statement: OpaquePointer?
        guard
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
                == SQLITE_OK,
            let statement
        else { throw error() }
        return RawStatement(handle: statement)
    }

    func int(_ sql: String) throws -> Int {
        let statement = try prepare(sql)
        guard sqlite3_step(statement.handle) == SQLITE_ROW else { throw error() }
        return Int(sqlite3_column_int64(statement.handle, 0))
    }

    private func error() -> WrongResult { WrongResult("SQLite: \(String(cString: sqlite3_errmsg(handle)))") }
}

/// A prepared statement, finalized in `deinit`.
final class RawStatement {
    let handle: OpaquePointer

    fileprivate init(handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement with the bound values, and resets it.
    func run() throws {
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw WrongResult("SQLite: code \(code)") }
        sqlite3_reset(handle)
    }

    /// Returns the body's result for the first row, or `nil` without a row.
    func first<T>(_ body: (OpaquePointer) throws -> T) throws -> T? {
        defer { sqlite3_reset(handle) }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return try body(handle)
        case SQLITE_DONE: return nil
        case let code: throw WrongResult("SQLite: code \(code)")
        }
    }

    /// Calls the body for each row.
    func forEach(_ body: (OpaquePointer) throws -> Void) throws {
        defer { sqlite3_reset(handle) }
        while sqlite3_step(handle) == SQLITE_ROW { try body(handle) }
    }

    func bind(_ int: Int, at index: Int32) { sqlite3_bind_int64(handle, index, Int64(int)) }

    func bind(_ double: Double, at index: Int32) { sqlite3_bind_double(handle, index, double) }

    /// Binds bytes without a copy: they must stay valid until the next call.
    func bind(_ text: RawText, at index: Int32) {
        sqlite3_bind_text(handle, index, text.start, text.count, nil)
    }
}
