// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// `String` compares by canonical equivalence; ids and text are compared byte by byte.

extension String {
    /// Whether both have the same UTF-8.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && byteOrder(relativeTo: other) == 0
    }

    /// Whether this string precedes the other one in the order of UTF-8 bytes.
    package func precedesInBytes(_ other: String) -> Bool { byteOrder(relativeTo: other) < 0 }

    /// Returns the rest after a prefix with the same UTF-8, or `nil` if the string does not begin with it.
    ///
    /// `hasPrefix` compares characters. A combining mark at the beginning of the rest is part of the prefix's last character.
    package func dropping(prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Compares UTF-8 bytes as `memcmp` does: negative if this string is first, 0 if they are equal, else positive.
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

extension UnsafeRawBufferPointer {
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let bytes = baseAddress, let others = other.baseAddress else {
            return isEmpty && other.isEmpty
        }
        return memcmp(bytes, others, count) == 0
    }
}
