// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

// The few forms that keys and values are made of. Lengths and counts are varints (seven bits a byte, lowest first, the
// high bit set on all but the last); other numbers have a fixed width.

extension ByteWriter {
    mutating func append(varint value: Int) {
        var rest = UInt(bitPattern: value)
        while rest > 0x7F {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(fixed value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append($0) }
    }

    /// A number as eight bytes whose byte order is the order of the numbers, negative ones included.
    mutating func append(ordered value: Int64) {
        Swift.withUnsafeBytes(of: (value ^ .min).bigEndian) { append($0) }
    }

    mutating func append(counted bytes: UnsafeRawBufferPointer) {
        append(varint: bytes.count)
        append(bytes)
    }

    mutating func append(counted text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }
}

/// Reads those forms from borrowed memory, and refuses to read past its end.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// What has not been read yet.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

    @inline(__always) mutating func bytes(count: Int) throws(StoreError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= bytes.count - position else { throw .valueEndsTooEarly }
        defer { position += count }
        return UnsafeRawBufferPointer(start: bytes.baseAddress.map { $0 + position }, count: count)
    }

    @inline(__always) mutating func byte() throws(StoreError) -> UInt8 {
        guard position < bytes.count else { throw .valueEndsTooEarly }
        defer { position += 1 }
        return bytes[position]
    }

    /// Nearly all lengths and counts have one byte.
    @inline(__always) mutating func varint() throws(StoreError) -> Int {
        let first = try byte()
        return first < 0x80 ? Int(first) : try varint(after: first)
    }

    private mutating func varint(after first: UInt8) throws(StoreError) -> Int {
        var value = UInt(first & 0x7F)
        for shift in stride(from: 7, to: UInt.bitWidth, by: 7) {
            let byte = try byte()
            value |= UInt(byte & 0x7F) << UInt(shift)
            if byte < 0x80 { return Int(bitPattern: value) }
        }
        throw StoreError(.corrupt, "A stored number is too long.")
    }

    mutating func fixed<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(StoreError) -> Number
    {
        let bytes = try bytes(count: MemoryLayout<Number>.size)
        return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
    }

    mutating func ordered() throws(StoreError) -> Int64 {
        let bytes = try bytes(count: MemoryLayout<Int64>.size)
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) ^ .min
    }

    mutating func counted() throws(StoreError) -> UnsafeRawBufferPointer {
        try bytes(count: try varint())
    }

    mutating func text() throws(StoreError) -> String { try counted().text() }
}

extension UnsafeRawBufferPointer {
    /// The bytes as text. Making it and comparing is several times as fast as the validating initialiser.
    func text() throws(StoreError) -> String {
        let text = String(decoding: self, as: UTF8.self)
        let isExact = text.utf8.withContiguousStorageIfAvailable { utf8 in
            utf8.count == count && (isEmpty || UnsafeRawBufferPointer(utf8).hasSameBytes(as: self))
        }
        guard isExact ?? false else { throw StoreError(.corrupt, "A stored text is not UTF-8.") }
        return text
    }

    func isUTF8(of text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { hasSameBytes(as: UnsafeRawBufferPointer($0)) }
            ?? elementsEqual(text.utf8)
    }

    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let bytes = baseAddress, let others = other.baseAddress else {
            return isEmpty && other.isEmpty
        }
        return memcmp(bytes, others, count) == 0
    }
}

extension StoreError {
    fileprivate static var valueEndsTooEarly: StoreError {
        StoreError(.corrupt, "A stored value ends too early.")
    }
}
