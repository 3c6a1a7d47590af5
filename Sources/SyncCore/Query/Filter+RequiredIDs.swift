// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// Ids, in byte order, that include those of all matches; `nil` when the filter does not restrict ids.
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
    /// The distinct strings, in byte order.
    @usableFromInline var distinctInOrder: [String] {
        var distinct: [String] = []
        for text in sorted(by: { $0.precedesInBytes($1) })
        where !(distinct.last?.hasSameBytes(as: text) ?? false) {
            distinct.append(text)
        }
        return distinct
    }
}
