// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TableQuery {
    /// The fields that an item must have to be returned, once it matches, or `nil` when it needs all of them.
    var neededFields: Set<String>? {
        if limit != 0, selection.isEmpty { return nil }
        return orderings.reduce(into: limit == 0 ? [] : Set(selection)) {
            $0.formUnion($1.expression.columns)
        }
    }
}

extension Filter {
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
}

extension [String] {
    /// Each text once, in byte order.
    var distinctInOrder: [String] {
        var distinct: [String] = []
        for text in sorted(by: { $0.precedesInBytes($1) })
        where !(distinct.last?.hasSameBytes(as: text) ?? false) {
            distinct.append(text)
        }
        return distinct
    }
}
