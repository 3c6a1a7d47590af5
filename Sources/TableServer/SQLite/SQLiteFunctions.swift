// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore

/// The functions that compiled filters call.
enum SQLiteFunctions {
    static let all: [DatabaseFunction] = comparisons + arithmetics + calls + conversions + sortKeys

    private static let comparisons = ODataExpression.Comparison.allCases.map { comparison in
        function("odata_\(comparison)", 2) { comparison.apply($0[0].item, $0[1].item).boolValue }
    }

    private static let arithmetics = ODataExpression.Arithmetic.allCases.map { arithmetic in
        function("odata_\(arithmetic)", 2) { arithmetic.apply($0[0].item, $0[1].item).sqliteValue }
    }

    private static let calls = ODataFunction.allCases.map { called in
        function("odata_\(called)", called.parameterCount) { values in
            let arguments = values.map(\.item)
            guard !called.exceedsLimit(arguments) else { throw patternTooLong }
            if called == .concat, ComputedText.exceedsLimit(arguments) { throw computedTextTooLong }
            return called.apply(arguments).sqliteValue
        }
    }

    /// The error of a search for a text that is longer than the limit.
    static let patternTooLong = DatabaseError(
        resultCode: .SQLITE_TOOBIG, message: "The text that is searched for is too long.")

    /// The error of a call that would compute a text that is longer than the limit.
    static let computedTextTooLong = DatabaseError(
        resultCode: .SQLITE_TOOBIG, message: "The computed text is too long.")

    private static let conversions = [
        function("odata_field", 2) { field($0).sqliteValue },
        function("odata_truth", 1) { $0[0].item.boolValue },
        function("odata_bool", 1) { Bool.fromDatabaseValue($0[0]).map { ItemValue.bool($0).sqliteValue } },
        function("odata_date", 1) { values in
            String.fromDatabaseValue(values[0]).flatMap { Timestamp(storedText: $0) }
                .map { ItemValue.date($0).sqliteValue }
        },
        function("odata_version", 1) { values in
            Int64.fromDatabaseValue(values[0]).map(TableRow.version(ofRevision:))
        },
    ]

    /// The sort keys of a field. The order of types is null, Booleans, numbers, texts, then objects and arrays, which are
    /// all equal.
    private static let sortKeys = [
        function("odata_sort_rank", 2) { field($0).sortRank },
        function("odata_sort_number", 2) { values in
            switch field(values) {
            case .bool(let value): value ? 1 : 0
            case .int(let value): value
            case .double(let value): value
            default: nil
            }
        },
        function("odata_sort_text", 2) { values in
            // As bytes, because a text ends at a NUL here.
            field(values).textValue.map { Data($0.utf8) }
        },
    ]

    private static func function(
        _ name: String, _ count: Int,
        _ body: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: count, pure: true) { values in
            guard !ReadDeadline.hasPassed else { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
            return try body(values)
        }
    }

    /// Returns a field of the row, by its fields and its name.
    private static func field(_ values: [DatabaseValue]) -> ItemValue {
        guard let fields = String.fromDatabaseValue(values[0]),
            let name = String.fromDatabaseValue(values[1])
        else { return .null }
        return JSONFields.value(of: name, in: fields)
    }
}

/// The form of a value in SQL: null, numbers and texts as they are; all others as bytes, of which the first is the type.
extension ItemValue {
    private enum Tag {
        static let no: UInt8 = 0
        static let yes: UInt8 = 1
        static let date: UInt8 = 2
        static let json: UInt8 = 3
        static let text: UInt8 = 4
    }

    var sqliteValue: DatabaseValue {
        switch self {
        case .null: .null
        case .int(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .bool(let value): Data([value ? Tag.yes : Tag.no]).databaseValue
        case .date(let date): Data([Tag.date] + Array(date.description.utf8)).databaseValue
        // SQLite takes a NUL for the end of a text.
        case .text(let text) where text.utf8.contains(0): Data([Tag.text] + Array(text.utf8)).databaseValue
        case .text(let text): text.databaseValue
        case .array, .object, .data: Data([Tag.json] + Array(json)).databaseValue
        }
    }

    fileprivate init(sqliteBytes bytes: Data) {
        let content = bytes.dropFirst()
        switch bytes.first {
        case Tag.no: self = false
        case Tag.yes: self = true
        case Tag.date: self = Timestamp(String(decoding: content, as: UTF8.self)).map(ItemValue.date) ?? .null
        case Tag.text: self = .text(String(decoding: content, as: UTF8.self))
        default: self = (try? ItemValue(json: content)) ?? .null
        }
    }
}

extension DatabaseValue {
    fileprivate var item: ItemValue {
        switch storage {
        case .null: .null
        case .int64(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let text): .text(text)
        case .blob(let bytes): ItemValue(sqliteBytes: bytes)
        }
    }
}
