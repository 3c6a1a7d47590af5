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
            other.utf8.withContiguousStorageIfAvailable { theirs in
                UnsafeRawBufferPointer(mine).byteOrder(relativeTo: UnsafeRawBufferPointer(theirs))
            }
        }
        if let order = order ?? nil { return order }
        return utf8.elementsEqual(other.utf8) ? 0 : utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }

    /// Returns the UTF-8 offset of the first occurrence of the other string, byte by byte; 0 for the empty string.
    func firstByteOffset(of part: String) -> Int? {
        withUTF8Bytes { text in part.withUTF8Bytes { text.firstOffset(of: $0) } }
    }

    /// Calls the body with the UTF-8 bytes. Only strings that are not native are copied.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
            ?? Array(utf8).withUnsafeBytes(body)
    }
}

extension Sequence<String> {
    /// Whether each string precedes the next one in the order of UTF-8 bytes.
    var areAscendingInBytes: Bool {
        zip(self, dropFirst()).allSatisfy { $0.precedesInBytes($1) }
    }
}

extension UnsafeRawBufferPointer {
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let bytes = baseAddress, let others = other.baseAddress else {
            return isEmpty && other.isEmpty
        }
        return memcmp(bytes, others, count) == 0
    }

    /// Compares bytes as `memcmp` does: negative if these are first or a prefix of the others, 0 if they are equal, else
    /// positive.
    @inline(__always) func byteOrder(relativeTo other: UnsafeRawBufferPointer) -> Int {
        if let bytes = baseAddress, let others = other.baseAddress {
            let order = memcmp(bytes, others, Swift.min(count, other.count))
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }

    /// Returns the offset of the first occurrence of the bytes; 0 for none.
    func firstOffset(of part: UnsafeRawBufferPointer) -> Int? {
        guard let others = part.baseAddress, let first = part.first else { return 0 }
        guard let bytes = baseAddress else { return nil }
        var offset = 0
        while offset + part.count <= count {
            let starts = count - part.count - offset + 1
            guard let found = memchr(bytes + offset, Int32(first), starts) else { return nil }
            offset = UnsafeRawPointer(found) - bytes
            if memcmp(bytes + offset, others, part.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }
}
