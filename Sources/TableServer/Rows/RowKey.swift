// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// An id, compared by its UTF-8 bytes. `String` compares by canonical equivalence.
struct RowKey: Hashable, Comparable, Sendable {
    let id: String

    init(_ id: String) {
        self.id = id
    }

    static func == (left: RowKey, right: RowKey) -> Bool { left.id.hasSameBytes(as: right.id) }

    static func < (left: RowKey, right: RowKey) -> Bool { left.id.precedesByBytes(right.id) }

    // Canonically equivalent ids have equal hashes, but are not equal.
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A row's key in the order of changes: the instant, then the id.
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
    /// Whether the string's UTF-8 bytes are before those of the other.
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
