// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@Suite struct ByteWriterTests {
    @Test(arguments: [0, 1, 1000])
    func `appended bytes are in order, whatever the initial capacity`(capacity: Int) {
        var writer = ByteWriter(capacity: capacity)
        var expected: [UInt8] = []
        for length in 0..<100 {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0 ^ length) }
            piece.withUnsafeBytes { writer.append($0) }
            writer.append(UInt8(length))
            writer.append("é\(length)")
            expected += piece + [UInt8(length)] + Array("é\(length)".utf8)
        }
        #expect(writer.array == expected)
        #expect(writer.count == expected.count)
    }

    @Test func `a writer can be reused after its bytes were removed`() {
        var writer = ByteWriter()
        writer.append("a text that is longer than the next")
        writer.removeAll()
        #expect(writer.array.isEmpty)
        writer.append("short")
        #expect(writer.array == Array("short".utf8))
    }
}
