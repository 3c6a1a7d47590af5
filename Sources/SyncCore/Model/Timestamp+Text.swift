// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Timestamp: LosslessStringConvertible {
    /// Reads RFC 3339 text such as `2014-05-30T18:30:00.0000000Z` or `2014-05-30T20:30:00+02:00`.
    ///
    /// A zone is converted to UTC; text without a zone is UTC. One to nine fraction digits are kept.
    ///
    /// - Returns: `nil` for anything else: leap seconds, `24:00`, ten digits or more, years outside 1 to 9999.
    public init?(_ text: String) {
        var text = text
        guard let timestamp = text.withUTF8({ Timestamp(utf8: $0) }) else { return nil }
        self = timestamp
    }

    /// Reads the same text from UTF-8 bytes.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        var reader = TimestampReader(bytes: bytes)
        guard let parsed = reader.read(), reader.isAtEnd else { return nil }
        self.init(
            seconds: parsed.seconds, nanoseconds: parsed.nanoseconds, fractionDigits: parsed.fractionDigits)
    }

    /// The instant as `yyyy-MM-ddTHH:mm:ss[.fraction]Z`.
    public var description: String { text(end: UInt8(ascii: "Z")) }

    /// The text form without its `Z`. The byte order of these texts is the order of the timestamps.
    ///
    /// A text with fewer digits is a prefix of the text with more digits of the same instant, so a store can keep dates
    /// as text and compare them with range conditions.
    @_spi(StoreAuthor) public var localText: String { text(end: nil) }

    private func text(end: UInt8?) -> String {
        String(unsafeUninitializedCapacity: Self.maxTextLength) { write(to: $0, end: end) }
    }

    /// `yyyy-MM-ddTHH:mm:ss.nnnnnnnnnZ`
    fileprivate static let maxTextLength = 30

    /// Writes the text form.
    ///
    /// - Returns: the number of bytes written.
    fileprivate func write(to buffer: UnsafeMutableBufferPointer<UInt8>, end: UInt8?) -> Int {
        let day = seconds.flooredQuotient(86_400)
        let secondOfDay = seconds - day * 86_400
        let (year, month, dayOfMonth) = Self.civil(fromDay: day)
        var writer = DigitWriter(buffer: buffer)
        writer.write(year, width: 4)
        writer.write(UInt8(ascii: "-"), month)
        writer.write(UInt8(ascii: "-"), dayOfMonth)
        writer.write(UInt8(ascii: "T"), secondOfDay / 3600)
        writer.write(UInt8(ascii: ":"), secondOfDay / 60 % 60)
        writer.write(UInt8(ascii: ":"), secondOfDay % 60)
        if fractionDigits > 0 {
            writer.write(UInt8(ascii: "."))
            let unit = Int64(Self.unitOfDigit[Int(fractionDigits)])
            writer.write(Int64(nanoseconds) / unit, width: Int(fractionDigits))
        }
        if let end { writer.write(end) }
        return writer.count
    }

    /// Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar.
    ///
    /// Years that start in March have the leap day at the end, so the day of the year is linear in the month.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The inverse of ``day(year:month:day:)``.
    static func civil(fromDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

/// Reads an RFC 3339 text: first the fields at fixed offsets, then fraction and zone.
private struct TimestampReader {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The offset after `yyyy-MM-ddTHH:mm:ss`.
    var position = 19

    var isAtEnd: Bool { position == bytes.count }

    mutating func read() -> (seconds: Int64, nanoseconds: Int32, fractionDigits: Int)? {
        guard bytes.count >= position,
            let century = twoDigits(at: 0), let yearOfCentury = twoDigits(at: 2), has("-", at: 4),
            let month = twoDigits(at: 5), (1...12).contains(month), has("-", at: 7),
            let day = twoDigits(at: 8), has("T", at: 10) || has("t", at: 10),
            let hour = twoDigits(at: 11), hour < 24, has(":", at: 13),
            let minute = twoDigits(at: 14), minute < 60, has(":", at: 16),
            let second = twoDigits(at: 17), second < 60,
            let fraction = fraction(), let offset = offset()
        else { return nil }
        let year = century * 100 + yearOfCentury
        guard year >= 1, (1...Self.lastDay(of: month, year: year)).contains(day) else { return nil }
        let days = Timestamp.day(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return (seconds, fraction.nanoseconds, fraction.digits)
    }

    private static func lastDay(of month: Int64, year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private func has(_ character: Unicode.Scalar, at offset: Int) -> Bool {
        bytes[offset] == UInt8(ascii: character)
    }

    private func digit(at offset: Int) -> Int64? {
        let digit = bytes[offset] &- UInt8(ascii: "0")
        return digit < 10 ? Int64(digit) : nil
    }

    private func twoDigits(at offset: Int) -> Int64? {
        guard let tens = digit(at: offset), let ones = digit(at: offset + 1) else { return nil }
        return tens * 10 + ones
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, has(character, at: position) else { return false }
        position += 1
        return true
    }

    private mutating func skipTwoDigits() -> Int64? {
        guard position + 2 <= bytes.count, let number = twoDigits(at: position) else { return nil }
        position += 2
        return number
    }

    private mutating func fraction() -> (nanoseconds: Int32, digits: Int)? {
        guard skip(".") else { return (0, 0) }
        var value: Int32 = 0
        var count = 0
        while position < bytes.count, let digit = digit(at: position) {
            position += 1
            count += 1
            guard count <= 9 else { return nil }
            value = value * 10 + Int32(digit)
        }
        guard count > 0 else { return nil }
        for _ in count..<9 { value *= 10 }
        return (value, count)
    }

    /// Seconds east of UTC.
    private mutating func offset() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("-") ? -1 : 1
        guard sign < 0 || skip("+"), let hours = skipTwoDigits(), hours < 24, skip(":"),
            let minutes = skipTwoDigits(), minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}

extension Int64 {
    package func flooredQuotient(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension ByteWriter {
    /// Appends the date's text form, or its ``Timestamp/localText``.
    package mutating func append(_ date: Timestamp, isLocal: Bool = false) {
        append(upTo: Timestamp.maxTextLength) { date.write(to: $0, end: isLocal ? nil : UInt8(ascii: "Z")) }
    }
}

/// Writes bytes and fixed-width numbers into a buffer that is large enough.
private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    mutating func write(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    mutating func write(_ separator: UInt8, _ twoDigits: Int64) {
        write(separator)
        write(twoDigits, width: 2)
    }

    mutating func write(_ number: Int64, width: Int) {
        var rest = number
        for index in stride(from: count + width - 1, through: count, by: -1) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            buffer[index] = UInt8(ascii: "0") + UInt8(digit)
            rest = quotient
        }
        count += width
    }
}
