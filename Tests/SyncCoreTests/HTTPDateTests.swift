// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyncCore

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("1994-11-06T08:49:37.999Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("1969-12-31T23:59:59.5Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ("2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT"),
        ("0001-01-01T00:00:00Z", "Mon, 01 Jan 0001 00:00:00 GMT"),
        ("9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func `an instant is printed without its fraction of a second`(_ text: String, _ expected: String) throws {
        #expect(try #require(Timestamp(text)).httpDate == expected)
    }

    @Test func `every month and weekday is parsed as printed`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for day in 0..<400 {
            let time = Timestamp(Date(timeIntervalSince1970: 1_700_000_000 + 86_400 * Double(day)))
            #expect(Timestamp(httpDate: time.httpDate)?.isSameInstant(as: time) == true)
            let weekday = calendar.component(.weekday, from: time.date)
            #expect(time.httpDate.hasPrefix(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][weekday - 1]))
        }
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37.5 GMT",
    ])
    func `any other text is not a date`(_ text: String) { #expect(Timestamp(httpDate: text) == nil) }
}
