// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// SQLite called directly, on one connection.
final class RawDatabase {
    let handle: OpaquePointer

    init(path: String, isDurable: Bool = true) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw WrongResult("SQLite cannot open '\(path)'.")
        }
        handle = opened
        // The cache is as large as the store's.
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

/// A prepared statement, finalised with the last reference.
final class RawStatement {
    let handle: OpaquePointer

    fileprivate init(handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement with the values bound so far and makes it ready for the next ones.
    func run() throws {
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw WrongResult("SQLite: code \(code)") }
        sqlite3_reset(handle)
    }

    /// What the body makes of the first row, or `nil` when there is none.
    func first<T>(_ body: (OpaquePointer) throws -> T) throws -> T? {
        defer { sqlite3_reset(handle) }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return try body(handle)
        case SQLITE_DONE: return nil
        case let code: throw WrongResult("SQLite: code \(code)")
        }
    }

    /// Runs the body with each row.
    func forEach(_ body: (OpaquePointer) throws -> Void) throws {
        defer { sqlite3_reset(handle) }
        while sqlite3_step(handle) == SQLITE_ROW { try body(handle) }
    }

    func bind(_ int: Int, at index: Int32) { sqlite3_bind_int64(handle, index, Int64(int)) }

    func bind(_ double: Double, at index: Int32) { sqlite3_bind_double(handle, index, double) }

    /// Binds bytes that stay where they are until the next call, so that SQLite need not copy them.
    func bind(_ text: RawText, at index: Int32) {
        sqlite3_bind_text(handle, index, text.start, text.count, nil)
    }
}
