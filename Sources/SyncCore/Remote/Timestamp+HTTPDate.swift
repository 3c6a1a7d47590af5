// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The form of dates that HTTP wants sent (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The two old forms
// are not read.

extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// From the day of the week of 1970-01-01 on.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads a date as headers have it, to the second.
    init?(httpDate text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT",
            let month = Self.months.firstIndex(of: String(words[2]))
        else { return nil }
        let (year, day, monthNumber) = (words[3], words[1], month + 1)
        self.init("\(year)-\(monthNumber < 10 ? "0" : "")\(monthNumber)-\(day)T\(words[4])Z")
    }

    /// The second of this instant as headers have it.
    package var httpDate: String {
        let secondOfDay = (seconds % 86_400 + 86_400) % 86_400
        let day = (seconds - secondOfDay) / 86_400
        let date = Self.civil(fromDay: day)
        let digits = localText
        let (dayOfMonth, time) = (digits.dropFirst(8).prefix(2), digits.dropFirst(11).prefix(8))
        return "\(Self.weekdays[Int((day % 7 + 7) % 7)]), \(dayOfMonth) \(Self.months[Int(date.month) - 1]) "
            + "\(digits.prefix(4)) \(time) GMT"
    }
}
