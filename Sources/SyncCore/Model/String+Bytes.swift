// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// Swift's own comparison follows canonical equivalence; ids and text are compared as the bytes they are.

extension String {
    /// Whether both are the same UTF-8.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && byteOrder(relativeTo: other) == 0
    }

    /// Whether this text comes before the other one in the order of their UTF-8.
    package func precedesInBytes(_ other: String) -> Bool { byteOrder(relativeTo: other) < 0 }

    /// Negative when this comes first, positive when the other one does.
    func byteOrder(relativeTo other: String) -> Int {
        let order = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { mine.order(relativeTo: $0) }
        }
        if let order = order ?? nil { return order }
        return utf8.elementsEqual(other.utf8) ? 0 : utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func order(relativeTo other: UnsafeBufferPointer<UInt8>) -> Int {
        if let start = baseAddress, let otherStart = other.baseAddress {
            let order = memcmp(start, otherStart, Swift.min(count, other.count))
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
