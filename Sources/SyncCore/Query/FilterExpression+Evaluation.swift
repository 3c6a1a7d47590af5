// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Access to the columns of one row, for filters and orders.
@usableFromInline package protocol ColumnReading {
    associatedtype Failure: Error

    /// The value of that column, or `nil` if it is missing.
    subscript(name: String) -> ItemValue? { get throws(Failure) }
}

extension Item: ColumnReading {
    @usableFromInline package typealias Failure = Never
}

extension FilterExpression {
    /// Returns the value for that item; null if a field is missing or the computation has no result.
    @_spi(StoreAuthor) public func value(for item: Item) -> ItemValue { value(in: item) }

    func value<Row: ColumnReading>(in row: Row) throws(Row.Failure) -> ItemValue {
        switch self {
        case .column(let name): return try row[name] ?? .null
        case .constant(let value): return value
        case .arithmetic(let operation, let left, let right):
            return operation.apply(try left.value(in: row), try right.value(in: row))
        case .call(let function, let arguments):
            return function.apply(
                try arguments.map { argument throws(Row.Failure) in try argument.value(in: row) })
        }
    }
}

extension FilterExpression.Arithmetic {
    /// Returns the result for two numbers; null if either is not a number, or for a division by zero.
    package func apply(_ left: ItemValue, _ right: ItemValue) -> ItemValue {
        if case .int(let a) = left, case .int(let b) = right {
            if let exact = exact(a, b) { return exact }
            return self == .mod ? .int(0) : real(Double(a), Double(b))
        }
        guard self != .mod, let a = left.doubleValue, let b = right.doubleValue else { return .null }
        return real(a, b)
    }

    /// Returns the integer result, null for a division by zero, or `nil` on overflow.
    private func exact(_ a: Int64, _ b: Int64) -> ItemValue? {
        if b == 0, self == .div || self == .mod { return .null }
        let (result, overflow) =
            switch self {
            case .add: a.addingReportingOverflow(b)
            case .sub: a.subtractingReportingOverflow(b)
            case .mul: a.multipliedReportingOverflow(by: b)
            case .div: a.dividedReportingOverflow(by: b)
            case .mod: a.remainderReportingOverflow(dividingBy: b)
            }
        return overflow ? nil : .int(result)
    }

    private func real(_ a: Double, _ b: Double) -> ItemValue {
        let result =
            switch self {
            case .add: a + b
            case .sub: a - b
            case .mul: a * b
            case .div: b == 0 ? .nan : a / b
            case .mod: Double.nan
            }
        return result.isNaN ? .null : .double(result)
    }
}

extension FilterExpression.Function {
    /// The number of arguments.
    @_spi(StoreAuthor) public var arity: Int {
        switch self {
        case .concat, .indexof: 2
        default: 1
        }
    }

    /// Returns the function's value; null if an argument is null or has another type than the function requires.
    package func apply(_ arguments: [ItemValue]) -> ItemValue {
        guard arguments.count == arity else { return .null }
        switch arguments[0] {
        case .text(let text): return apply(text, second: arguments.last?.textValue)
        case .date(let date): return part(of: date).map(ItemValue.int) ?? .null
        case .int(let int): return isRounding ? .int(int) : .null
        case .double(let double): return rounded(double).map(ItemValue.double) ?? .null
        default: return .null
        }
    }

    private func apply(_ text: String, second: String?) -> ItemValue {
        switch self {
        case .tolower: .text(text.lowercased())
        case .toupper: .text(text.uppercased())
        case .trim: .text(text.trimmingWhitespace)
        case .length: .int(Int64(text.unicodeScalars.count))
        case .concat: second.map { .text(text + $0) } ?? .null
        case .indexof: second.map { .int(Self.index(of: $0, in: text)) } ?? .null
        default: .null
        }
    }

    private static func index(of part: String, in text: String) -> Int64 {
        guard let start = text.firstByteOffset(of: part) else { return -1 }
        let index = text.utf8.index(text.startIndex, offsetBy: start)
        return Int64(text.unicodeScalars.distance(from: text.startIndex, to: index))
    }

    private func part(of date: Timestamp) -> Int64? {
        let day = date.seconds.flooredQuotient(86_400)
        let second = date.seconds - day * 86_400
        switch self {
        case .year: return Timestamp.civil(fromDay: day).year
        case .month: return Timestamp.civil(fromDay: day).month
        case .day: return Timestamp.civil(fromDay: day).day
        case .hour: return second / 3600
        case .minute: return second / 60 % 60
        case .second: return second % 60
        default: return nil
        }
    }

    private var isRounding: Bool { self == .round || self == .floor || self == .ceiling }

    private func rounded(_ value: Double) -> Double? {
        switch self {
        case .round: value.rounded(.toNearestOrAwayFromZero)
        case .floor: value.rounded(.down)
        case .ceiling: value.rounded(.up)
        default: nil
        }
    }
}
