// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

// The store writes dates as `2025-01-31T08:09:10.123`, in UTC. In an app's database it also reads the forms that
// SQLite's date functions and GRDB write, and Unix times.

extension Timestamp {
    /// Parses a date with a `T` or a space before the time, with or without seconds, fraction and time zone, or
    /// without a time. Without a time zone it is UTC.
    init?(sqliteText bytes: UnsafeRawBufferPointer) {
        if let date = Timestamp(utf8: bytes.assumingMemoryBound(to: UInt8.self)) {
            self = date
            return
        }
        var text = Array(bytes)
        if text.count == 10 { text += Array("T00:00:00".utf8) }
        guard text.count >= 16 else { return nil }
        if text[10] == UInt8(ascii: " ") { text[10] = UInt8(ascii: "T") }
        if text.count == 16 || text[16] != UInt8(ascii: ":") {
            text.insert(contentsOf: Array(":00".utf8), at: 16)
        }
        guard let date = text.withUnsafeBufferPointer({ Timestamp(utf8: $0) }) else { return nil }
        self = date
    }

    /// Creates the instant of a Unix time in seconds, to the millisecond, as GRDB decodes numeric dates.
    init?(unixTime: Double) {
        let milliseconds = (unixTime * 1000).rounded()
        guard let whole = Int64(exactly: milliseconds) else { return nil }
        let seconds = whole.flooredQuotient(1000)
        // The product overflows at the lowest number of milliseconds, the difference of both does not.
        let millisecond = Int32(whole &- seconds &* 1000)
        self.init(seconds: seconds, nanoseconds: millisecond * 1_000_000, fractionDigits: 3)
    }
}
