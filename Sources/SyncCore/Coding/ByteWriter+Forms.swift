// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// Forms that stores keep. Lengths and counts are varints (LEB128); other numbers have a fixed width. ``ByteReader``
// decodes them.

extension ByteWriter {
    @inlinable package mutating func append(varint value: Int) {
        var rest = UInt(bitPattern: value)
        while rest > 0x7F {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable package mutating func append(fixed value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append($0) }
    }

    /// Appends eight bytes that sort in numeric order, negative numbers included.
    @inlinable package mutating func append(ordered value: Int64) {
        Swift.withUnsafeBytes(of: (value ^ .min).bigEndian) { append($0) }
    }

    @inlinable package mutating func append(counted bytes: UnsafeRawBufferPointer) {
        append(varint: bytes.count)
        append(bytes)
    }

    @inlinable package mutating func append(counted text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }
}
