// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ODataExpression.Comparison {
    /// Compares two values. Returns null when one is null, and for an order of values of different types.
    func apply(_ left: ItemValue, _ right: ItemValue) -> ItemValue {
        if left.isNull || right.isNull { return .null }
        guard let order = left.order(to: right) else {
            return switch self {
            case .eq: false
            case .ne: true
            case .gt, .ge, .lt, .le: .null
            }
        }
        return switch self {
        case .eq: .bool(order == .same)
        case .ne: .bool(order != .same)
        case .gt: .bool(order == .after)
        case .ge: .bool(order != .before)
        case .lt: .bool(order == .before)
        case .le: .bool(order != .after)
        }
    }
}

extension ODataExpression.Arithmetic {
    /// Computes a result. Integers overflow to doubles; integer division by zero is null.
    func apply(_ left: ItemValue, _ right: ItemValue) -> ItemValue {
        if case .int(let a) = left, case .int(let b) = right {
            if b == 0, self == .div || self == .mod { return .null }
            let (result, overflow) =
                switch self {
                case .add: a.addingReportingOverflow(b)
                case .sub: a.subtractingReportingOverflow(b)
                case .mul: a.multipliedReportingOverflow(by: b)
                case .div: a.dividedReportingOverflow(by: b)
                case .mod: a.remainderReportingOverflow(dividingBy: b)
                }
            if !overflow { return .int(result) }
            if self == .mod { return .int(0) }
        }
        guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
        let result: Double? =
            switch self {
            case .add: a + b
            case .sub: a - b
            case .mul: a * b
            case .div: a / b
            case .mod: nil
            }
        guard let result, !result.isNaN, self != .div || b != 0 else { return .null }
        return .double(result)
    }
}
