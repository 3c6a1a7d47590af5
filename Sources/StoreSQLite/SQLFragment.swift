// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// A part of an SQL statement with the values of its parameters, in order.
struct SQLFragment {
    var sql: String
    var values: [SQLValue] = []
    /// The depth of nested parentheses, which SQLite's parser limits.
    var nesting = 0
    /// Whether it is a disjunction, which needs parentheses inside a conjunction.
    var isAlternative = false
    /// Whether it calls one of ``SQLFunctions``.
    var callsFunctions = false
    /// Whether its SQL text depends on the number of values, or is that of few queries for another reason.
    var isRarelyRepeated = false

    init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }

    /// Joins fragments with a separator between and text around them.
    init(_ open: String, _ parts: [SQLFragment], separator: String, _ close: String) {
        sql = open + parts.map(\.sql).joined(separator: separator) + close
        values = parts.flatMap(\.values)
        let depth = open.hasSuffix("(") ? 1 : 0
        nesting = (parts.map(\.nesting).max() ?? 0) + depth
        callsFunctions = parts.contains(where: \.callsFunctions)
        isRarelyRepeated = parts.contains(where: \.isRarelyRepeated)
    }

    func bindValues(to statement: SQLStatement) throws(StoreError) {
        var index: Int32 = 0
        for value in values {
            index += 1
            switch value {
            case .int(let int): try statement.bind(int, at: index)
            case .double(let double): try statement.bind(double, at: index)
            case .text(let text): try statement.bind(text, at: index)
            case .bytes(let bytes): try statement.bindText(bytes, at: index)
            case .data(let data): try statement.bind(data, at: index)
            case .set(let set): try statement.bind(set, tag: SQLValueSet.tag, at: index)
            }
        }
    }
}

/// The value of a parameter.
enum SQLValue {
    case int(Int64)
    case double(Double)
    case text(String)
    /// Text that may be invalid UTF-8: the upper bound of a range of strings.
    case bytes([UInt8])
    case data(Data)
    case set(SQLValueSet)
}

/// A list of constants that is too long for parameters; an SQL function searches it.
final class SQLValueSet: Sendable {
    /// The pointer type that SQLite requires to pass the set to the function.
    static let tag: StaticString = "SQLValueSet"

    private let values: Set<ItemValue>
    private let hasNull: Bool

    init(_ values: [ItemValue]) {
        self.values = Set(values.lazy.filter { !$0.isNull }.map(\.normalizedNumber))
        hasNull = values.contains(where: \.isNull)
    }

    /// Returns whether the set contains the value, with the semantics of ``Filter/membership(_:_:)``; `nil` is unknown.
    func contains(_ value: ItemValue) -> Bool? {
        if value.isNull { return nil }
        if values.contains(value.normalizedNumber) { return true }
        return hasNull ? nil : false
    }
}

extension ItemValue {
    /// The value as SQLite compares it: a Boolean or a whole double is an integer.
    fileprivate var normalizedNumber: ItemValue {
        switch self {
        case .bool(let bool): .int(bool ? 1 : 0)
        case .double(let double): Int64(exactly: double).map(ItemValue.int) ?? self
        default: self
        }
    }
}
