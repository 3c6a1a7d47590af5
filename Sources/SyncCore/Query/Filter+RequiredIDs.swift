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

    /// An id that no match precedes in byte order; `nil` when the filter has no lower bound of ids.
    package var lowestID: String? {
        switch self {
        case .comparison(.greater, .column("id"), .constant(.text(let id))),
            .comparison(.greaterOrEqual, .column("id"), .constant(.text(let id))),
            .comparison(.less, .constant(.text(let id)), .column("id")),
            .comparison(.lessOrEqual, .constant(.text(let id)), .column("id")):
            id
        case .all(let filters): filters.lazy.compactMap(\.lowestID).max { $0.precedesInBytes($1) }
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
