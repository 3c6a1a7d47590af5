// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads numbers and texts from an input. After the end of the input, every byte is zero.
struct ByteConsumer {
    private var rest: ArraySlice<UInt8>

    init(_ data: Data) { rest = Array(data)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Returns a number from 0 up to, but not including, the bound.
    mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }

    mutating func uint64() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

    /// Returns a text of at most 15 bytes before the decoding.
    mutating func text() -> String {
        let count = Int(byte() & 15)
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    mutating func element<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}
