// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Bytes that are written piece after piece, most of them short: room is made with one comparison a piece, where an
/// array would look at its storage each time.
package struct ByteWriter: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// How many bytes have been written.
    @usableFromInline package internal(set) var count = 0

    /// - Parameter capacity: how many bytes there will be, about.
    package init(capacity: Int = 0) {
        self.capacity = max(capacity, 16)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// The bytes so far.
    package var array: [UInt8] { withBytes { Array($0) } }

    package var data: Data { withBytes { Data($0) } }

    package var last: UInt8? { count == 0 ? nil : start[count - 1] }

    /// Lends the bytes so far.
    package func withBytes<T, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> T) throws(E) -> T {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Forgets what was written, and keeps the room for it.
    package mutating func removeAll() { count = 0 }

    @inlinable package mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        start[count] = byte
        count += 1
    }

    @inlinable package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        makeRoom(for: bytes.count)
        memcpy(start + count, source, bytes.count)
        count += bytes.count
    }

    /// Adds the text as UTF-8.
    @inlinable package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Lets the body write up to so many bytes, and tell how many it has written.
    @inlinable package mutating func append(
        upTo maxCount: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        makeRoom(for: maxCount)
        count += write(UnsafeMutableBufferPointer(start: start + count, count: maxCount))
    }

    @inlinable @inline(__always) mutating func makeRoom(for more: Int) {
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
