// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import SyncCore

/// A prepared statement. Parameters are numbered from 1, columns from 0.
///
/// Binds and reads values with SQLite's own functions, because GRDB ends strings at the first NUL character. GRDB
/// caches the statements and executes those that write, so that the app's observations see the changes.
struct SQLStatement {
    private let statement: Statement
    private var handle: OpaquePointer { statement.sqliteStatement }

    /// Resets the statement for binding. A statement that writes needs `writes`: GRDB executes it only with arguments
    /// set.
    init(_ statement: Statement, writes: Bool) {
        self.statement = statement
        if writes {
            statement.setUncheckedArguments(StatementArguments())
        } else {
            sqlite3_reset(handle)
        }
    }

    /// Executes the statement without results, then resets it for the next parameters.
    func execute() throws {
        defer { sqlite3_reset(handle) }
        do { try statement.execute() } catch { throw StoreError.translated(error) }
    }

    /// Executes the statement with these values, then clears all bindings, because SQLite keeps pointers to the values.
    func execute(with texts: RowTexts) throws {
        defer { sqlite3_clear_bindings(handle) }
        try texts.withValues { value, index, isBlob in
            try check(
                isBlob
                    ? sqlite3_bind_blob64(handle, index, value.baseAddress, UInt64(value.count), nil)
                    : bindText(value, at: index, lifetime: nil))
        } thenRun: {
            try execute()
        }
    }

    /// Calls the body with each row.
    func forEachRow(_ body: (SQLRow) throws -> Void) throws {
        defer { sqlite3_reset(handle) }
        while try step() { try body(SQLRow(handle: handle)) }
    }

    /// Returns the body's result for the first row, or `nil` when there are no rows.
    func firstRow<T>(_ body: (SQLRow) throws -> T) throws -> T? {
        defer { sqlite3_reset(handle) }
        return try step() ? try body(SQLRow(handle: handle)) : nil
    }

    private func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code: throw failure(code)
        }
    }

    private func failure(_ code: Int32) -> StoreError {
        let message = sqlite3_errmsg(sqlite3_db_handle(handle)).map { String(cString: $0) }
        return StoreError(DatabaseError(resultCode: ResultCode(rawValue: code), message: message))
    }
}

// MARK: - Parameters

extension SQLStatement {
    func bindNull(at index: Int32) throws(StoreError) {
        try check(sqlite3_bind_null(handle, index))
    }

    func bind(_ int: Int64, at index: Int32) throws(StoreError) {
        try check(sqlite3_bind_int64(handle, index, int))
    }

    func bind(_ double: Double, at index: Int32) throws(StoreError) {
        try check(sqlite3_bind_double(handle, index, double))
    }

    func bind(_ text: String, at index: Int32) throws(StoreError) {
        var text = text
        try check(text.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index) })
    }

    /// Binds text given as UTF-8 bytes.
    func bindText(_ bytes: some ContiguousBytes, at index: Int32) throws(StoreError) {
        try check(bytes.withUnsafeBytes { bindText($0, at: index) })
    }

    func bind(_ data: Data, at index: Int32) throws(StoreError) {
        let code = data.withUnsafeBytes { bytes in
            // SQLite binds NULL for a null pointer; zeroblob binds an empty blob.
            bytes.baseAddress.map {
                sqlite3_bind_blob64(handle, index, $0, UInt64(bytes.count), copiedBySQLite)
            } ?? sqlite3_bind_zeroblob(handle, index, 0)
        }
        try check(code)
    }

    /// Binds an object for the function with the same tag; SQLite retains it until the binding changes.
    func bind(_ object: AnyObject, tag: StaticString, at index: Int32) throws(StoreError) {
        let pointer = Unmanaged.passRetained(object).toOpaque()
        let code = tag.withCString { tag in
            sqlite3_bind_pointer(handle, index, pointer, tag) { pointer in
                guard let pointer else { return }
                Unmanaged<AnyObject>.fromOpaque(pointer).release()
            }
        }
        try check(code)
    }

    private func bindText(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, lifetime: sqlite3_destructor_type? = copiedBySQLite
    ) -> Int32 {
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return StaticString("").withCString { empty in
            // SQLite binds NULL for a null pointer; the static string binds an empty text.
            sqlite3_bind_text64(
                handle, index, start ?? empty, UInt64(bytes.count), lifetime, UInt8(SQLITE_UTF8))
        }
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }
}

// MARK: - Columns

/// The current row of a statement.
struct SQLRow {
    fileprivate let handle: OpaquePointer

    /// Returns the storage class of the value: `SQLITE_NULL`, `SQLITE_INTEGER` and so on.
    func storage(at index: Int32) -> Int32 { sqlite3_column_type(handle, index) }

    func int(at index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }

    func double(at index: Int32) -> Double { sqlite3_column_double(handle, index) }

    /// Returns the text, or `nil` for null.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when it is not UTF-8, which SQLite does not check.
    func text(at index: Int32) throws -> String? { try withText(at: index) { try $0.text() } }

    /// Returns a text of the schema or of a pragma, or `nil` for null. An app's SQL may be in any encoding, for example in a
    /// comment, so bytes that are not UTF-8 are replaced.
    func schemaText(at index: Int32) -> String? {
        withText(at: index) { String(decoding: $0, as: UTF8.self) }
    }

    func data(at index: Int32) -> Data {
        withBytes(at: index, sqlite3_column_blob(handle, index)) { Data($0) } ?? Data()
    }

    /// Calls the body with the bytes of a text, valid until it returns; returns `nil` for null.
    func withText<T>(at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
        try withBytes(at: index, sqlite3_column_text(handle, index), body)
    }

    /// Calls the body with the bytes of a blob, valid until it returns; with no bytes for null.
    func withBlob<T>(at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withBytes(at: index, sqlite3_column_blob(handle, index), body)
            ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Reads the length after the pointer, because reading the pointer may convert the value.
    private func withBytes<T>(
        at index: Int32, _ start: UnsafeRawPointer?, _ body: (UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T? {
        guard let start else { return nil }
        let count = Int(sqlite3_column_bytes(handle, index))
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// `SQLITE_TRANSIENT`, a C cast that Swift cannot import: SQLite copies the value before it returns.
var copiedBySQLite: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

extension StaticString {
    /// Calls the body with the NUL-terminated string, which has static lifetime.
    fileprivate func withCString<T>(_ body: (UnsafePointer<CChar>) -> T) -> T {
        UnsafeRawPointer(utf8Start).withMemoryRebound(to: CChar.self, capacity: utf8CodeUnitCount + 1) {
            body($0)
        }
    }
}
