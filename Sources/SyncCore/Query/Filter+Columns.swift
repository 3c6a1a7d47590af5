// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// The columns that the filter looks at.
    var columns: Set<String> {
        var names: Set<String> = []
        insertColumns(into: &names)
        return names
    }

    func insertColumns(into names: inout Set<String>) {
        switch self {
        case .always: break
        case .comparison(_, let left, let right), .text(_, let left, let right):
            left.insertColumns(into: &names)
            right.insertColumns(into: &names)
        case .nullTest(let expression), .membership(let expression, _):
            expression.insertColumns(into: &names)
        case .all(let filters), .any(let filters):
            for filter in filters { filter.insertColumns(into: &names) }
        case .not(let filter): filter.insertColumns(into: &names)
        }
    }
}

extension Expression {
    func insertColumns(into names: inout Set<String>) {
        switch self {
        case .column(let name): names.insert(name)
        case .constant: break
        case .arithmetic(_, let left, let right):
            left.insertColumns(into: &names)
            right.insertColumns(into: &names)
        case .call(_, let arguments):
            for argument in arguments { argument.insertColumns(into: &names) }
        }
    }
}
