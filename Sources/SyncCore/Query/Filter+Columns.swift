// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// The columns that the filter reads.
    package var columns: Set<String> {
        switch self {
        case .always: []
        case .comparison(_, let left, let right), .text(_, let left, let right):
            left.columns.union(right.columns)
        case .nullTest(let expression), .membership(let expression, _): expression.columns
        case .all(let filters), .any(let filters): filters.reduce(into: []) { $0.formUnion($1.columns) }
        case .not(let filter): filter.columns
        }
    }
}

extension FilterExpression {
    /// The columns that the expression reads.
    package var columns: Set<String> {
        switch self {
        case .column(let name): [name]
        case .constant: []
        case .arithmetic(_, let left, let right): left.columns.union(right.columns)
        case .call(_, let arguments): arguments.reduce(into: []) { $0.formUnion($1.columns) }
        }
    }
}
