// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Filter {
    /// Whether the item matches. This is the reference implementation for every store: see ``Filter`` for the rules.
    public func matches(_ item: Item) -> Bool { truth(for: item) == true }

    /// True, false, or `nil` for unknown. Only the columns that decide are read.
    func truth<Row: ColumnReading>(for row: Row) throws(Row.Failure) -> Bool? {
        switch self {
        case .always(let value):
            return value
        case .comparison(let comparison, let left, .constant(let constant)):
            return comparison.holds(try left.value(in: row), constant, nullTests: constant.isNull)
        case .comparison(let comparison, let left, let right):
            return comparison.holds(try left.value(in: row), try right.value(in: row), nullTests: false)
        case .nullTest(let expression):
            return try expression.value(in: row).isNull
        case .membership(let expression, let constants):
            return Filter.membership(of: try expression.value(in: row), in: constants)
        case .text(let test, let text, let part):
            guard let text = try text.value(in: row).textValue, let part = try part.value(in: row).textValue
            else {
                return nil
            }
            return test.holds(text, part)
        case .all(let filters):
            return try Filter.fold(filters, stopAt: false) { filter throws(Row.Failure) in
                try filter.truth(for: row)
            }
        case .any(let filters):
            return try Filter.fold(filters, stopAt: true) { filter throws(Row.Failure) in
                try filter.truth(for: row)
            }
        case .not(let filter):
            return try filter.truth(for: row).map { !$0 }
        }
    }

    /// The truth of all conditions together, or of any of them.
    ///
    /// - Parameter decisive: the truth of one condition that decides: false for all, true for any.
    static func fold<Condition, Failure: Error>(
        _ conditions: [Condition], stopAt decisive: Bool, truth: (Condition) throws(Failure) -> Bool?
    ) throws(Failure) -> Bool? {
        var isUnknown = false
        for condition in conditions {
            switch try truth(condition) {
            case decisive: return decisive
            case nil: isUnknown = true
            default: break
            }
        }
        return isUnknown ? nil : !decisive
    }

    /// A null among the constants matches no value: the comparison with it is unknown.
    static func membership(of value: ItemValue, in constants: [ItemValue]) -> Bool? {
        if constants.isEmpty { return false }
        if value.isNull { return nil }
        if constants.contains(where: { value.order(comparedTo: $0) == .same }) { return true }
        return constants.contains(where: \.isNull) ? nil : false
    }
}

extension Filter.Comparison {
    func holds(_ left: ItemValue, _ right: ItemValue, nullTests: Bool) -> Bool? {
        if nullTests, self == .equal || self == .notEqual { return left.isNull == (self == .equal) }
        return left.order(comparedTo: right).map(holds)
    }

    /// Whether two values in that order have this relation.
    func holds(_ order: ValueOrder) -> Bool {
        switch self {
        case .equal: order == .same
        case .notEqual: order != .same
        case .less: order == .ascending
        case .lessOrEqual: order != .descending
        case .greater: order == .descending
        case .greaterOrEqual: order != .ascending
        }
    }
}

extension Filter.TextTest {
    /// Whether the test is true, byte by byte.
    package func holds(_ text: String, _ part: String) -> Bool {
        text.withUTF8Bytes { text in part.withUTF8Bytes { holds(text, $0) } }
    }

    /// Whether the test is true for texts of these UTF-8 bytes.
    func holds(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .hasPrefix: UnsafeRawBufferPointer(rebasing: text.prefix(part.count)).hasSameBytes(as: part)
        case .hasSuffix: UnsafeRawBufferPointer(rebasing: text.suffix(part.count)).hasSameBytes(as: part)
        case .contains: text.firstOffset(of: part) != nil
        }
    }
}

/// The result of comparing two values.
enum ValueOrder {
    case ascending, same, descending

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .ascending : left == right ? .same : .descending
    }

    init(bytes left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) {
        if left.lexicographicallyPrecedes(right) {
            self = .ascending
        } else {
            self = right.lexicographicallyPrecedes(left) ? .descending : .same
        }
    }
}

extension ItemValue {
    /// Compares the values; `nil` if one is null or NaN, or their types cannot be compared.
    func order(comparedTo other: ItemValue) -> ValueOrder? {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): ValueOrder(a ? 1 : 0, b ? 1 : 0)
        case (.int(let a), .int(let b)): ValueOrder(a, b)
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : ValueOrder(a, b)
        case (.int(let a), .double(let b)): ValueOrder(a, b)
        case (.double(let a), .int(let b)): ValueOrder(b, a)?.reversed
        case (.text(let a), .text(let b)): ValueOrder(a.byteOrder(relativeTo: b), 0)
        case (.date(let a), .date(let b)):
            a.isSameInstant(as: b) ? .same : a.isEarlier(than: b) ? .ascending : .descending
        case (.data(let a), .data(let b)): ValueOrder(bytes: a, b)
        default: nil
        }
    }
}

extension ValueOrder {
    var reversed: ValueOrder {
        switch self {
        case .ascending: .descending
        case .same: .same
        case .descending: .ascending
        }
    }

    /// Compares exactly: converting the integer to a double could make different numbers equal. Returns `nil` for NaN.
    fileprivate init?(_ int: Int64, _ double: Double) {
        if double.isNaN { return nil }
        if double >= 0x1p63 {
            self = .ascending
        } else if double < -0x1p63 {
            self = .descending
        } else {
            let whole = double.rounded(.towardZero)
            self = int == Int64(whole) ? ValueOrder(whole, double) : ValueOrder(int, Int64(whole))
        }
    }
}
