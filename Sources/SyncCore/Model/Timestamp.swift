// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An instant in UTC that preserves its number of fraction digits, up to nanoseconds. Years 1 to 9999.
///
/// Servers write `updatedAt` with three digits, seven, or none; a store returns a date with the digits of the server.
///
/// Order and equality compare the instant first and the digits second, so `…:00Z` comes just before
/// `…:00.000Z`. Filters compare instants only: see ``isSameInstant(as:)``.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public let seconds: Int64
    /// Nanoseconds within the second, 0 to 999 999 999; a multiple of the unit that ``fractionDigits`` can show.
    public let nanoseconds: Int32
    /// The number of fraction digits in the text form, 0 to 9.
    public let fractionDigits: Int8

    /// The instants that have a text form: years 1 to 9999.
    static let representableSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    static let unitOfDigit: [Int32] = [
        1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1,
    ]

    /// Makes a timestamp. Digits beyond `fractionDigits` are truncated, not rounded.
    ///
    /// - Returns: `nil` outside years 1 to 9999, or when `nanoseconds` or `fractionDigits` is out of range.
    public init?(seconds: Int64, nanoseconds: Int32 = 0, fractionDigits: Int = 3) {
        guard Self.representableSeconds.contains(seconds), (0..<1_000_000_000).contains(nanoseconds),
            (0...9).contains(fractionDigits)
        else { return nil }
        let unit = Self.unitOfDigit[fractionDigits]
        self.seconds = seconds
        self.nanoseconds = nanoseconds - nanoseconds % unit
        self.fractionDigits = Int8(fractionDigits)
    }

    /// Converts a date, rounded to milliseconds, the precision of JSON servers; clamped to years 1 to 9999.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        let lowest = Double(Self.representableSeconds.lowerBound) * 1000
        let highest = Double(Self.representableSeconds.upperBound) * 1000 + 999
        let whole = Int64(min(max(milliseconds.isNaN ? 0 : milliseconds, lowest), highest))
        let (quotient, remainder) = whole.quotientAndRemainder(dividingBy: 1000)
        let isBeforeSecond = remainder < 0
        seconds = isBeforeSecond ? quotient - 1 : quotient
        nanoseconds = Int32(isBeforeSecond ? remainder + 1000 : remainder) * 1_000_000
        fractionDigits = 3
    }

    /// 1970-01-01T00:00:00.000Z.
    public static let unixEpoch = Timestamp(Date(timeIntervalSince1970: 0))

    /// The instant as a Foundation date, with the precision of a `Double`.
    public var date: Date {
        Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
    }

    /// Whether both are the same instant, regardless of their fraction digits.
    public func isSameInstant(as other: Timestamp) -> Bool {
        seconds == other.seconds && nanoseconds == other.nanoseconds
    }

    /// The time from the other instant to this one; negative if this one is earlier.
    func since(_ other: Timestamp) -> Duration {
        .seconds(seconds - other.seconds) + .nanoseconds(nanoseconds - other.nanoseconds)
    }

    /// Whether this instant is before the other one, regardless of their fraction digits.
    public func isEarlier(than other: Timestamp) -> Bool {
        (seconds, nanoseconds) < (other.seconds, other.nanoseconds)
    }

    /// Orders by instant, then by number of fraction digits.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds, left.fractionDigits)
            < (right.seconds, right.nanoseconds, right.fractionDigits)
    }

    /// Returns the same instant with another number of fraction digits, truncated if there are fewer; clamped to 0…9.
    public func showing(fractionDigits: Int) -> Timestamp {
        let digits = min(max(fractionDigits, 0), 9)
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds, fractionDigits: digits) ?? self
    }

    /// Returns the instant after the duration, or before it if negative; clamped to years 1 to 9999.
    public func advanced(by duration: Duration) -> Timestamp {
        // No sum within these limits overflows.
        let limit = Duration.seconds(
            Self.representableSeconds.upperBound - Self.representableSeconds.lowerBound + 1)
        let (whole, attoseconds) = min(max(duration, .zero - limit), limit).components
        var (sum, fraction) = (seconds + whole, Int64(nanoseconds) + attoseconds / 1_000_000_000)
        if fraction < 0 { (sum, fraction) = (sum - 1, fraction + 1_000_000_000) }
        if fraction >= 1_000_000_000 { (sum, fraction) = (sum + 1, fraction - 1_000_000_000) }
        let range = Self.representableSeconds
        if sum < range.lowerBound { (sum, fraction) = (range.lowerBound, 0) }
        if sum > range.upperBound { (sum, fraction) = (range.upperBound, 999_999_999) }
        return Timestamp(seconds: sum, nanoseconds: Int32(fraction), fractionDigits: Int(fractionDigits))
            ?? self
    }
}
