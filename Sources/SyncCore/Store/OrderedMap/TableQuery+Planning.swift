// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableQuery {
    /// The fields that an item must have to be returned, once it matches, or `nil` when it needs all of them.
    var neededFields: Set<String>? {
        let returnsItems = limit != 0
        if returnsItems, selection.isEmpty { return nil }
        var names = returnsItems ? Set(selection) : []
        for ordering in orderings { ordering.expression.insertColumns(into: &names) }
        return names
    }
}

extension Filter {
    /// The columns that the filter looks at.
    var columns: Set<String> {
        var names: Set<String> = []
        insertColumns(into: &names)
        return names
    }

    /// Ids, in byte order, that include those of all items that can match, or `nil` when any item might.
    var requiredIDs: [String]? {
        switch self {
        case .comparison(.equal, .column("id"), .constant(.text(let id))): [id]
        case .comparison(.equal, .constant(.text(let id)), .column("id")): [id]
        case .membership(.column("id"), let constants): constants.compactMap(\.textValue).distinctInOrder
        case .all(let filters): filters.lazy.compactMap(\.requiredIDs).first
        default: nil
        }
    }

    fileprivate func insertColumns(into names: inout Set<String>) {
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
    fileprivate func insertColumns(into names: inout Set<String>) {
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

extension [String] {
    /// Each text once, in byte order.
    var distinctInOrder: [String] {
        var distinct: [String] = []
        for text in sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        where !(distinct.last?.hasSameBytes(as: text) ?? false) {
            distinct.append(text)
        }
        return distinct
    }
}
