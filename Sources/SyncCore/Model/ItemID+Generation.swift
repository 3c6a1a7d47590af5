// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension ItemID {
    /// Returns a new item id: a time-ordered UUID (RFC 9562, version 7), which gives stores and servers locality.
    package static func generate(at time: Timestamp, _ random: () -> UInt64) -> String {
        let milliseconds = UInt64(bitPattern: time.seconds * 1000 + Int64(time.nanoseconds / 1_000_000))
        let (high, low) = (random(), random())
        let first = milliseconds << 16 | 0x7000 | high & 0x0FFF
        let second = 0x8000_0000_0000_0000 | low >> 2
        let digits = [first, second].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var id = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { id.append("-") }
            id.append(digit)
        }
        return id
    }
}
