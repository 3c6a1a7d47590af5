// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// An append-only byte buffer. An append needs one comparison of the capacity, and no check for unique ownership as in an
/// array.
package struct ByteWriter: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// The number of bytes written.
    @usableFromInline package internal(set) var count = 0

    /// - Parameter capacity: the expected number of bytes.
    package init(capacity: Int = 0) {
        self.capacity = max(capacity, 16)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// The bytes written.
    package var array: [UInt8] { withBytes { Array($0) } }

    package var data: Data { withBytes { Data($0) } }

    package var last: UInt8? { count == 0 ? nil : start[count - 1] }

    /// Calls the body with the bytes written.
    package func withBytes<T, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> T) throws(E) -> T {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Removes the bytes and keeps the capacity.
    package mutating func removeAll() { count = 0 }

    @inlinable package mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    @inlinable package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        memcpy(start + count, source, bytes.count)
        count += bytes.count
    }

    /// Appends the string as UTF-8.
    @inlinable package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends the bytes that the body writes into a buffer of `maxCount` bytes; it returns their number.
    @inlinable package mutating func append(
        upTo maxCount: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        reserve(maxCount)
        count += write(UnsafeMutableBufferPointer(start: start + count, count: maxCount))
    }

    @inlinable @inline(__always) mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    @usableFromInline mutating func grow(by more: Int) {
        let larger = max(2 * capacity, count + more)
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        copy.update(from: start, count: count)
        start.deallocate()
        (start, capacity) = (copy, larger)
    }
}
