// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A server time in nanoseconds since 1970.
struct ModelTime: Sendable, Hashable {
    let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Reads `yyyy-MM-ddTHH:mm:ss.fffZ`, with up to nine digits of the fraction.
    init?(_ text: String) {
        let digits = text.utf8.split { !(48...57).contains($0) }.map { String(decoding: $0, as: UTF8.self) }
        guard digits.count >= 6 else { return nil }
        let parts = digits.prefix(6).compactMap { Int($0) }
        guard parts.count == 6 else { return nil }
        let fraction = digits.count > 6 ? Int64((digits[6] + "000000000").prefix(9)) ?? 0 : 0
        let seconds =
            Self.days(parts[0], parts[1], parts[2]) * 86400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        // Times that the server cannot keep are before or after all rows.
        let latest = Int(Int64.max / 1_000_000_000) - 1
        nanoseconds = Int64(min(max(seconds, -latest), latest)) * 1_000_000_000 + fraction
    }

    private var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    private var clock: String {
        let time = seconds % 86400
        return "\(Self.two(time / 3600)):\(Self.two(time / 60 % 60)):\(Self.two(time % 60))"
    }

    /// The time that a client reads in the text with that number of fraction digits.
    func shown(digits: Int) -> ModelTime {
        let unit = (0..<(9 - digits)).reduce(1) { unit, _ in unit * 10 } as Int64
        return ModelTime(nanoseconds: nanoseconds - nanoseconds % unit)
    }

    /// The time with that number of fraction digits, the rest cut off.
    func text(digits: Int) -> String {
        let (year, month, day) = Self.date(seconds / 86400)
        let fraction = String(1_000_000_000 + nanoseconds % 1_000_000_000).dropFirst().prefix(digits)
        return "\(year)-\(Self.two(month))-\(Self.two(day))T\(clock)\(digits > 0 ? "." : "")\(fraction)Z"
    }

    /// The time as a `Date` header.
    var httpDate: String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let (year, month, day) = Self.date(seconds / 86400)
        return "\(weekdays[seconds / 86400 % 7]), \(Self.two(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    // The civil calendar in whole numbers; years begin in March, so that leap days are at their ends.

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400, yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
    }

    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let z = days + 719468, era = z / 146097, dayOfEra = z - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let shifted = month < 10 ? month + 3 : month - 9
        return (
            yearOfEra + era * 400 + (shifted <= 2 ? 1 : 0), shifted, dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
