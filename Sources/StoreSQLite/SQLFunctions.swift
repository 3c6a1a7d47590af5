// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
@_spi(StoreAuthor) import SyncCore

import struct Foundation.Data

/// The SQL functions that compiled filters call. They use the reference implementation, so all stores agree.
enum SQLFunctions {
    /// Exists only to detect whether the functions are registered.
    static let probe = "sync_functions"
    static let contains = "sync_contains"
    static let remainder = "sync_mod"
    /// Returns the shortest text of a date in any supported form, or null for other values.
    static let instant = "sync_instant"
    /// Returns the text of a date in any supported form, with its digits, or null for other values.
    static let date = "sync_date"

    static func name(of function: FilterExpression.Function) -> String { "sync_" + function.rawValue }
    static func name(of test: Filter.TextTest) -> String { "sync_" + test.rawValue }

    /// Registers the functions on a connection.
    static func register(on connection: OpaquePointer?) throws(StoreError) {
        for (index, function) in FilterExpression.Function.allCases.enumerated() {
            try register(name(of: function), arity: function.arity, index, on: connection) {
                context, count, values in
                let function = FilterExpression.Function.allCases[SQLFunctions.index(context)]
                let takesDate = function.takesDate
                let arguments = (0..<Int(count)).map { ItemValue(values?[$0], isDate: takesDate) }
                function.apply(arguments).set(asResultIn: context)
            }
        }
        for (index, test) in Filter.TextTest.allCases.enumerated() {
            try register(name(of: test), arity: 2, index, on: connection) { context, _, values in
                let test = Filter.TextTest.allCases[SQLFunctions.index(context)]
                let text = ItemValue(values?[0]).textValue
                let part = ItemValue(values?[1]).textValue
                guard let text, let part else { return sqlite3_result_null(context) }
                sqlite3_result_int(context, test.holds(text, part) ? 1 : 0)
            }
        }
        try register(remainder, arity: 2, 0, on: connection) { context, _, values in
            FilterExpression.Arithmetic.mod.apply(ItemValue(values?[0]), ItemValue(values?[1]))
                .set(asResultIn: context)
        }
        try register(contains, arity: 2, 0, on: connection) { context, _, values in
            let result = SQLFunctions.set(values?[1])?.contains(ItemValue(values?[0]))
            (result.map(ItemValue.bool) ?? .null).set(asResultIn: context)
        }
        try register(instant, arity: 1, 0, on: connection) { context, _, values in
            let date = ItemValue(values?[0], isDate: true).dateValue
            (date.map { ItemValue.text($0.shortestText) } ?? .null).set(asResultIn: context)
        }
        try register(date, arity: 1, 0, on: connection) { context, _, values in
            let date = ItemValue(values?[0], isDate: true).dateValue
            (date.map { ItemValue.text($0.localText) } ?? .null).set(asResultIn: context)
        }
        try register(probe, arity: 0, 0, on: connection) { context, _, _ in sqlite3_result_null(context) }
    }

    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// - Parameter index: the context of the function, see ``index(_:)``; C functions cannot capture values.
    private static func register(
        _ name: String, arity: Int, _ index: Int, on connection: OpaquePointer?, _ function: Function
    ) throws(StoreError) {
        // SQLITE_DIRECTONLY: the schema of an untrusted file must not call the functions.
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        let code = sqlite3_create_function_v2(
            connection, name, Int32(arity), flags, UnsafeMutableRawPointer(bitPattern: index + 1), function,
            nil, nil, nil)
        guard code == SQLITE_OK else {
            throw StoreError(.inputOutput, "SQLite cannot register the function \(name) (code \(code)).")
        }
    }

    private static func index(_ context: OpaquePointer?) -> Int {
        Int(bitPattern: sqlite3_user_data(context)) - 1
    }

    /// Returns the set of a bound pointer; SQLite checks the pointer type.
    private static func set(_ value: OpaquePointer?) -> SQLValueSet? {
        let tag = UnsafeRawPointer(SQLValueSet.tag.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let pointer = sqlite3_value_pointer(value, tag) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? SQLValueSet
    }
}

extension FilterExpression.Function {
    fileprivate var takesDate: Bool {
        switch self {
        case .year, .month, .day, .hour, .minute, .second: true
        default: false
        }
    }
}

extension ItemValue {
    /// Reads an argument of a function; null if it cannot be read.
    fileprivate init(_ value: OpaquePointer?, isDate: Bool = false) {
        let type = sqlite3_value_type(value)
        if isDate, type == SQLITE_INTEGER || type == SQLITE_FLOAT {
            self = Timestamp(unixTime: sqlite3_value_double(value)).map(ItemValue.date) ?? .null
            return
        }
        switch type {
        case SQLITE_INTEGER: self = .int(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .double(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let text = UnsafeRawBufferPointer(
                start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
            self =
                isDate
                ? Timestamp(sqliteText: text).map(ItemValue.date) ?? .null
                : (try? text.text()).map(ItemValue.text) ?? .null
        case SQLITE_BLOB:
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
            self = .data(Data(bytes))
        default: self = .null
        }
    }

    /// Sets the value as the result of a function.
    fileprivate func set(asResultIn context: OpaquePointer?) {
        switch self {
        case .bool(let bool): sqlite3_result_int(context, bool ? 1 : 0)
        case .int(let int): sqlite3_result_int64(context, int)
        case .double(let double): sqlite3_result_double(context, double)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    guard let start = characters.baseAddress else {
                        return sqlite3_result_text(context, "", 0, copiedBySQLite)
                    }
                    sqlite3_result_text64(
                        context, start, UInt64(characters.count), copiedBySQLite, UInt8(SQLITE_UTF8))
                }
            }
        default: sqlite3_result_null(context)
        }
    }
}
