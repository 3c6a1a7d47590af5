// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The result of comparing two values.
enum ValueOrder {
    case before, same, after

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .before : left == right ? .same : .after
    }

    init(_ left: Timestamp, _ right: Timestamp) {
        self = left.isEarlier(than: right) ? .before : left.isSameInstant(as: right) ? .same : .after
    }
}

extension ItemValue {
    /// Compares two values: numbers exactly, text by UTF-8 bytes, dates by instant. Returns `nil` when the types do not
    /// compare.
    ///
    /// Rows store a client's dates as text, so text is parsed as a date when the other value is one.
    func order(to other: ItemValue) -> ValueOrder? {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): ValueOrder(a ? 1 : 0, b ? 1 : 0)
        case (.int(let a), .int(let b)): ValueOrder(a, b)
        case (.double(let a), .double(let b)): ValueOrder(a, b)
        // Exact: converting a large integer to a double would round it.
        case (.int(let a), .double(let b)): Self.order(a, b)
        case (.double(let a), .int(let b)): Self.order(b, a).reversed
        case (.text(let a), .text(let b)): ValueOrder(UTF8Text(a), UTF8Text(b))
        case (.date(let a), .date(let b)): ValueOrder(a, b)
        case (.date(let a), .text(let b)): Timestamp(b).map { ValueOrder(a, $0) }
        case (.text(let a), .date(let b)): Timestamp(a).map { ValueOrder($0, b) }
        default: nil
        }
    }

    private static func order(_ integer: Int64, _ double: Double) -> ValueOrder {
        if double >= 0x1p63 { return .before }
        if double < -0x1p63 { return .after }
        let whole = Int64(double.rounded(.down))
        if integer != whole { return ValueOrder(integer, whole) }
        return double > double.rounded(.down) ? .before : .same
    }

    /// The order of types in `$orderby`: null, Booleans, numbers, texts and dates, then objects and arrays.
    var sortRank: Int64 {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .double: 2
        case .text, .date, .data: 3
        case .array, .object: 4
        }
    }
}

extension ValueOrder {
    fileprivate var reversed: ValueOrder {
        switch self {
        case .before: .after
        case .same: .same
        case .after: .before
        }
    }
}
