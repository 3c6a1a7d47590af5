// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// A piece of an SQL condition with the values of its placeholders, in order.
struct SQLFragment {
    var sql: String
    var values: [SQLValue] = []
    /// How many parentheses lie inside each other, which SQLite's parser limits.
    var nesting = 0
    /// Whether it is several conditions joined by `OR`, and needs parentheses inside others.
    var isAlternative = false
    /// Whether it calls one of ``SQLFunctions``.
    var callsFunctions = false
    /// Whether its text varies with the number of values.
    var hasList = false

    init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }

    /// Fragments with text between and around them.
    init(_ open: String, _ parts: [SQLFragment], separator: String, _ close: String) {
        sql = open + parts.map(\.sql).joined(separator: separator) + close
        values = parts.flatMap(\.values)
        let depth = open.hasSuffix("(") ? 1 : 0
        nesting = (parts.map(\.nesting).max() ?? 0) + depth
        callsFunctions = parts.contains(where: \.callsFunctions)
        hasList = parts.contains(where: \.hasList)
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

/// A value for a placeholder.
enum SQLValue {
    case int(Int64)
    case double(Double)
    case text(String)
    /// Text that need not be valid UTF-8: the end of a range of texts.
    case bytes([UInt8])
    case data(Data)
    case set(SQLValueSet)
}

/// More constants than placeholders are good for, looked up by a function.
final class SQLValueSet: Sendable {
    /// What the function asks for when it is given the set.
    static let tag: StaticString = "SQLValueSet"

    private let values: Set<ItemValue>
    private let hasNull: Bool

    init(_ values: [ItemValue]) {
        self.values = Set(values.lazy.filter { !$0.isNull }.map(\.normalizedNumber))
        hasNull = values.contains(where: \.isNull)
    }

    /// Whether the value is among the constants, by the rules of ``Filter/membership(_:_:)``.
    func contains(_ value: ItemValue) -> Bool? {
        if value.isNull { return nil }
        if values.contains(value.normalizedNumber) { return true }
        return hasNull ? nil : false
    }
}

extension ItemValue {
    /// Numbers that are equal become the same value; other values stay.
    fileprivate var normalizedNumber: ItemValue {
        guard case .double(let double) = self, let int = Int64(exactly: double) else { return self }
        return .int(int)
    }
}
