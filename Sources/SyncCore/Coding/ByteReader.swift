// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Decodes the forms of ``ByteWriter`` from borrowed memory; throws when a value is truncated.
@usableFromInline package struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var position = 0
    /// The nesting of the value that is being decoded.
    var depth = 0

    /// The greatest nesting, beyond that of JSON, which bounds the use of the stack.
    static let maxDepth = 200

    @inlinable package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    @inlinable package var isAtEnd: Bool { position == bytes.count }

    /// The unread bytes.
    package var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

    @inlinable @inline(__always) package mutating func bytes(count: Int) throws(StoreError)
        -> UnsafeRawBufferPointer
    {
        guard count >= 0, count <= bytes.count - position else { throw .truncatedValue }
        defer { position += count }
        return UnsafeRawBufferPointer(start: bytes.baseAddress.map { $0 + position }, count: count)
    }

    @inlinable @inline(__always) package mutating func byte() throws(StoreError) -> UInt8 {
        guard position < bytes.count else { throw .truncatedValue }
        defer { position += 1 }
        return bytes[position]
    }

    /// Fast path: most lengths and counts have one byte.
    @inlinable @inline(__always) package mutating func varint() throws(StoreError) -> Int {
        let first = try byte()
        return first < 0x80 ? Int(first) : try varint(after: first)
    }

    @usableFromInline mutating func varint(after first: UInt8) throws(StoreError) -> Int {
        var value = UInt(first & 0x7F)
        for shift in stride(from: 7, to: UInt.bitWidth, by: 7) {
            let byte = try byte()
            value |= UInt(byte & 0x7F) << UInt(shift)
            if byte < 0x80 { return Int(bitPattern: value) }
        }
        throw StoreError(.corrupt, "The store is damaged: a variable-length number is too long.")
    }

    @inlinable package mutating func fixed<Number: FixedWidthInteger>(
        _: Number.Type = Number.self
    ) throws(StoreError) -> Number {
        let bytes = try bytes(count: MemoryLayout<Number>.size)
        return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
    }

    @inlinable package mutating func ordered() throws(StoreError) -> Int64 {
        let bytes = try bytes(count: MemoryLayout<Int64>.size)
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) ^ .min
    }

    @inlinable @inline(__always) package mutating func counted() throws(StoreError) -> UnsafeRawBufferPointer
    {
        try bytes(count: try varint())
    }

    package mutating func text() throws(StoreError) -> String { try counted().text() }

    /// Throws when there are unread bytes.
    ///
    /// - Parameter what: the decoded value, for the error message.
    package func requireEnd(of what: String) throws(StoreError) {
        guard isAtEnd else { throw StoreError(.corrupt, "The store is damaged: \(what) has trailing bytes.") }
    }
}

extension UnsafeRawBufferPointer {
    /// Decodes UTF-8. Decoding and comparing is several times as fast as the validating initializer.
    package func text() throws(StoreError) -> String {
        let text = String(decoding: self, as: UTF8.self)
        let isExact = text.utf8.withContiguousStorageIfAvailable { utf8 in
            utf8.count == count && (isEmpty || UnsafeRawBufferPointer(utf8).hasSameBytes(as: self))
        }
        guard isExact ?? false else {
            throw StoreError(.corrupt, "The store is damaged: a string is not UTF-8.")
        }
        return text
    }

    package func isUTF8(of text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { hasSameBytes(as: UnsafeRawBufferPointer($0)) }
            ?? elementsEqual(text.utf8)
    }
}

extension StoreError {
    static var repeatedName: StoreError {
        StoreError(.corrupt, "The store is damaged: an object has a name twice.")
    }

    @usableFromInline static var truncatedValue: StoreError {
        StoreError(.corrupt, "The store is damaged: a value is truncated.")
    }
}
