// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) import SyncCore
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        "1970-01-01T00:00:00Z", "2014-05-30T18:30:00.000Z", "2014-05-30T18:30:00.1234567Z",
        "2014-05-30T18:30:00.123456789Z", "2014-05-30T18:30:00.0000000Z", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999Z", "2000-02-29T12:00:00Z",
        "1600-02-29T00:00:00.5Z", "2024-12-31T23:59:59Z",
    ])
    func `a parsed text is printed unchanged`(_ text: String) throws {
        #expect(try #require(Timestamp(text)).description == text)
    }

    @Test(arguments: [
        ("2014-05-30T20:30:00+02:00", "2014-05-30T18:30:00Z"),
        ("2014-05-30T18:30:00-00:00", "2014-05-30T18:30:00Z"),
        ("2014-01-01T00:30:00.5+14:00", "2013-12-31T10:30:00.5Z"),
        ("2014-05-30t18:30:00z", "2014-05-30T18:30:00Z"),
        ("2014-05-30T18:30:00.25", "2014-05-30T18:30:00.25Z"),
        ("2014-12-31T23:30:00-01:00", "2015-01-01T00:30:00Z"),
    ])
    func `other time zones are converted to UTC`(_ text: String, _ expected: String) throws {
        #expect(try #require(Timestamp(text)).description == expected)
    }

    @Test(arguments: [
        "", "2014", "2014-05-30", "2014-05-30T18:30Z", "2014-05-30 18:30:00Z", "2014-05-30T24:00:00Z",
        "2014-05-30T18:60:00Z", "2016-12-31T23:59:60Z", "2014-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2014-13-01T00:00:00Z", "2014-00-01T00:00:00Z", "2014-01-00T00:00:00Z", "2014-04-31T00:00:00Z",
        "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "2014-05-30T18:30:00.Z",
        "2014-05-30T18:30:00.1234567890Z", "2014-05-30T18:30:00ZZ", "2014-05-30T18:30:00+2:00",
        "2014-05-30T18:30:00+02", "2014-05-30T18:30:00+24:00", " 2014-05-30T18:30:00Z",
        "2014-05-30T18:30:00Z ",
        "２014-05-30T18:30:00Z", "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01",
        "2014-05-30T18:30:00Z\u{0}",
        "2014-05-30T18:30:0aZ", "2014-05-30T18:30:00,5Z", "2014x05-30T18:30:00Z", "2014-05x30T18:30:00Z",
        "2014-05-30T18x30:00Z", "2014-05-30T18:30x00Z", "2014-05-30T18:3::00Z", "2014-05-30T18:30:00+02x00",
        "0000-12-31T23:59:59-01:00",
    ])
    func `any other text is refused`(_ text: String) { #expect(Timestamp(text) == nil) }

    @Test func `bytes after the text are not read`() {
        let bytes = Array("2014-05-30T18:30:00.125+02:00".utf8)
        for count in bytes.indices {
            let read = bytes.withUnsafeBufferPointer { Timestamp(utf8: .init(rebasing: $0[..<count])) }
            #expect(read == Timestamp(String(decoding: bytes[..<count], as: UTF8.self)))
            #expect((read != nil) == [19, 21, 22, 23].contains(count))
        }
    }

    @Test func `every day of leap and common years is printed as parsed`() throws {
        for year in [1, 4, 100, 400, 1582, 1899, 1900, 1970, 2000, 2023, 2024, 9999] {
            for month in 1...12 {
                for day in 1...28 {
                    let text = String(format: "%04d-%02d-%02dT01:02:03Z", year, month, day)
                    #expect(Timestamp(text)?.description == text)
                }
            }
        }
    }

    @Test func `timestamps and their local texts sort by instant, then by digits`() throws {
        let texts = [
            "1969-12-31T23:59:59.9Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0Z",
            "1970-01-01T00:00:00.000Z",
            "1970-01-01T00:00:00.0001Z", "1970-01-01T00:00:00.1Z", "1970-01-01T00:00:00.10Z",
            "1970-01-01T00:00:01Z",
        ]
        let times = try texts.map { try #require(Timestamp($0)) }
        #expect(times.shuffled().sorted() == times)
        #expect(
            times.map(\.localText).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                == times.map(\.localText))
        #expect(times[1].isSameInstant(as: times[3]))
        #expect(times[1] != times[3])
        #expect(!times[1].isEarlier(than: times[3]))
    }

    @Test func `fewer digits truncate and never round up`() throws {
        let time = try #require(Timestamp("2014-12-31T23:59:59.999999999Z"))
        for digits in 0...9 {
            let shown = time.showing(fractionDigits: digits)
            #expect(shown.fractionDigits == Int8(digits))
            #expect(!time.isEarlier(than: shown))
        }
        #expect(time.showing(fractionDigits: 0).description == "2014-12-31T23:59:59Z")
        #expect(time.showing(fractionDigits: -1) == time.showing(fractionDigits: 0))
        #expect(time.showing(fractionDigits: 12) == time)
    }

    @Test(arguments: [
        Duration.zero, .nanoseconds(1), .nanoseconds(-1), .milliseconds(-1500), .seconds(86_400),
        .seconds(-86_400 * 366),
    ])
    func `adding and subtracting a duration gives the same timestamp`(_ duration: Duration) throws {
        let time = try #require(Timestamp("2024-02-29T00:00:00.500000000Z"))
        #expect(time.advanced(by: duration).advanced(by: .zero - duration) == time)
    }

    @Test func `advancing stops at the years 1 and 9999`() throws {
        let time = try #require(Timestamp("2024-02-29T00:00:00Z"))
        let first = try #require(Timestamp("0001-01-01T00:00:00Z"))
        let last = try #require(Timestamp("9999-12-31T23:59:59Z"))
        let nanosecond = Duration.nanoseconds(1)
        for start in [first, time, last] {
            for duration in [
                .seconds(Int64.max / 4), .seconds(Int64.max), Self.longest, Self.longest - nanosecond,
            ] {
                #expect(start.advanced(by: duration) == last)
                #expect(start.advanced(by: .zero - duration) == first)
            }
            #expect(start.advanced(by: .seconds(Int64.min)) == first)
            #expect(start.advanced(by: .seconds(Int64.min) - nanosecond) == first)
            #expect(start.advanced(by: .seconds(Int64.max) + .nanoseconds(999_999_999)) == last)
        }
    }

    /// The longest duration, whose seconds are more than an `Int64` has.
    private static let longest = Duration.seconds(Int64.max) * 18

    @Test func `advancing to the end of the last year is not earlier than before`() throws {
        let time = try #require(Timestamp("9999-12-31T23:59:59.500Z"))
        #expect(time.advanced(by: .milliseconds(700)).description == "9999-12-31T23:59:59.999Z")
        let early = try #require(Timestamp("0001-01-01T00:00:00.500Z"))
        #expect(early.advanced(by: .milliseconds(-700)).description == "0001-01-01T00:00:00.000Z")
    }

    @Test func `Foundation dates are rounded to milliseconds and clamped`() {
        #expect(Timestamp(Date(timeIntervalSince1970: 1.2345)).description == "1970-01-01T00:00:01.235Z")
        #expect(Timestamp(Date(timeIntervalSince1970: -0.0005)).description.hasPrefix("19"))
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).description == "0001-01-01T00:00:00.000Z")
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)).description == "1970-01-01T00:00:00.000Z")
    }
}
