// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Filter {
    /// The filter on one line, for traces: `all(count lt 5, not(label eq "a"))`. Abbreviates deep levels and long
    /// lists.
    var outline: String { outline(depth: 0) }

    private func outline(depth: Int) -> String {
        guard depth < 8 else { return "…" }
        func list(_ filters: [Filter]) -> String { filters.abbreviated { $0.outline(depth: depth + 1) } }
        return switch self {
        case .always(let value): "always(\(value))"
        case .comparison(let comparison, let left, let right):
            "\(left.outline()) \(comparison.rawValue) \(right.outline())"
        case .nullTest(let expression): "\(expression.outline()) is null"
        case .membership(let expression, let values):
            "\(expression.outline()) in [\(values.abbreviated(\.exactDescription))]"
        case .text(let test, let text, let part):
            "\(test.rawValue)(\(text.outline()), \(part.outline()))"
        case .all(let filters): "all(\(list(filters)))"
        case .any(let filters): "any(\(list(filters)))"
        case .not(let filter): "not(\(filter.outline(depth: depth + 1)))"
        }
    }
}

extension FilterExpression {
    fileprivate func outline(depth: Int = 0) -> String {
        guard depth < 8 else { return "…" }
        return switch self {
        case .column(let name): name
        case .constant(let value): value.exactDescription
        case .arithmetic(let operation, let left, let right):
            "(\(left.outline(depth: depth + 1)) \(operation.rawValue) \(right.outline(depth: depth + 1)))"
        case .call(let function, let arguments):
            "\(function.rawValue)(\(arguments.abbreviated { $0.outline(depth: depth + 1) }))"
        }
    }
}

extension TableQuery {
    /// The query on one line, for traces.
    var outline: String {
        var parts = [table]
        if let filter { parts.append("where \(filter.outline)") }
        for ordering in orderings {
            parts.append("by \(ordering.expression.outline())\(ordering.isDescending ? " descending" : "")")
        }
        if offset != 0 { parts.append("offset \(offset)") }
        if let limit { parts.append("limit \(limit)") }
        if !selection.isEmpty { parts.append("select \(selection.joined(separator: ", "))") }
        if includesTotalCount { parts.append("counting") }
        return parts.joined(separator: " ")
    }
}

extension Array {
    /// Joins the descriptions of the first elements; adds the count when there are more.
    fileprivate func abbreviated(_ form: (Element) -> String) -> String {
        let forms = prefix(12).map(form).joined(separator: ", ")
        return count > 12 ? "\(forms), … (\(count))" : forms
    }
}
