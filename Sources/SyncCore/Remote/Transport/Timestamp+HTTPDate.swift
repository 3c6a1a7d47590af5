// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The preferred date format of HTTP (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete formats
// are not supported.

extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// Starts with the weekday of 1970-01-01.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads the date of a header.
    init?(httpDate text: String) {
        let words = text.split(separator: " ")
        // A header has no fraction of a second.
        guard words.count == 6, words[5] == "GMT", words[4].utf8.count == 8,
            let month = Self.months.firstIndex(of: String(words[2]))
        else { return nil }
        let (year, day, monthNumber) = (words[3], words[1], month + 1)
        self.init("\(year)-\(monthNumber < 10 ? "0" : "")\(monthNumber)-\(day)T\(words[4])Z")
    }

    /// The instant as the date of a header, truncated to seconds.
    package var httpDate: String {
        let day = seconds.flooredQuotient(86_400)
        let weekday = Self.weekdays[Int(day - 7 * day.flooredQuotient(7))]
        let month = Self.months[Int(Self.civil(fromDay: day).month) - 1]
        let digits = localText
        let (year, dayOfMonth) = (digits.prefix(4), digits.dropFirst(8).prefix(2))
        return "\(weekday), \(dayOfMonth) \(month) \(year) \(digits.dropFirst(11).prefix(8)) GMT"
    }
}
