// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// An id as a key: equal and ordered by its UTF-8 bytes, where Swift's own order follows canonical equivalence.
struct RowKey: Hashable, Comparable, Sendable {
    let id: String

    init(_ id: String) {
        self.id = id
    }

    static func == (left: RowKey, right: RowKey) -> Bool { left.id.hasSameBytes(as: right.id) }

    static func < (left: RowKey, right: RowKey) -> Bool { left.id.precedesByBytes(right.id) }

    // Canonically equivalent ids hash alike; equality tells them apart.
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A row's place in the order of changes: by instant, then by id.
struct UpdateKey: Comparable, Sendable {
    let updatedAt: Timestamp
    let id: RowKey

    static func == (left: UpdateKey, right: UpdateKey) -> Bool {
        left.updatedAt.isSameInstant(as: right.updatedAt) && left.id == right.id
    }

    static func < (left: UpdateKey, right: UpdateKey) -> Bool {
        if left.updatedAt.isSameInstant(as: right.updatedAt) { return left.id < right.id }
        return left.updatedAt.isEarlier(than: right.updatedAt)
    }
}

extension String {
    /// Whether the UTF-8 bytes of this text come before those of the other one.
    func precedesByBytes(_ other: String) -> Bool {
        let fast = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right -> Bool in
                guard let leftStart = left.baseAddress else { return !right.isEmpty }
                guard let rightStart = right.baseAddress else { return false }
                let order = memcmp(leftStart, rightStart, Swift.min(left.count, right.count))
                return order != 0 ? order < 0 : left.count < right.count
            }
        }
        return (fast ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}
