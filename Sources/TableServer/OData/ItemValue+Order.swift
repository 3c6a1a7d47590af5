// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// How one value stands to another.
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
    /// The order of two values that can be compared: numbers exactly, text by bytes, dates by instant.
    ///
    /// Rows keep a client's dates as the text they came as, so a text beside a date is read as a date.
    func order(to other: ItemValue) -> ValueOrder? {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): ValueOrder(a ? 1 : 0, b ? 1 : 0)
        case (.int(let a), .int(let b)): ValueOrder(a, b)
        case (.double(let a), .double(let b)): ValueOrder(a, b)
        // Integers and doubles compare as the numbers they are, not as the nearest doubles.
        case (.int(let a), .double(let b)): Self.order(a, b)
        case (.double(let a), .int(let b)): Self.order(b, a).reversed
        case (.text(let a), .text(let b)): ValueOrder(RowKey(a), RowKey(b))
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

    /// The order in which `$orderby` lists values: null, truth values, numbers, then text and dates.
    func sortsBefore(_ other: ItemValue) -> Bool {
        if rank != other.rank { return rank < other.rank }
        return order(to: other) == .before
    }

    private var rank: Int {
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
