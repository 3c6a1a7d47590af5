// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Values other than strings that have caused bugs in stores, by column, in ascending order.
struct CorpusValues: Sendable {
    let column: String
    let values: [ItemValue]

    static let all = [integers, doubles, dates, blobs]

    /// The values of each column of ``Fixture/indexed``.
    static let indexed: [String: [ItemValue]] = [
        "bool": [false, true], "integer": integers.values, "double": doubles.values + [.double(-0.0)],
        "date": dates.values, "data": blobs.values,
    ]

    /// Powers of two and adjacent values; react-native-sqlite-storage 37, capacitor sqlite 124.
    private static let integers = CorpusValues(
        column: "count",
        values: ([
            .min, .min + 1, -9_007_199_254_740_993, -9_007_199_254_740_992, -4_294_967_297, -2_147_483_649,
            -2_147_483_648, -65_537, -129, -128, -1, 0, 1, 127, 128, 255, 256, 65_535, 65_536, 2_147_483_647,
            2_147_483_648, 4_294_967_295, 4_294_967_296, 1_458_743_338_878, 9_007_199_254_740_991,
            9_007_199_254_740_992, 9_007_199_254_740_993, .max - 1, .max,
        ] as [Int64]).map(ItemValue.int))

    /// azure-mobile-apps 394: only two digits stored; FDB: special doubles.
    private static let doubles = CorpusValues(
        column: "ratio",
        values: ([
            -.greatestFiniteMagnitude, -1e308, -0x1p63, -1_015_555_132.5, -2.5, -1, -0.1,
            -.leastNormalMagnitude,
            -.leastNonzeroMagnitude, 0.0, .leastNonzeroMagnitude, .leastNormalMagnitude, 1e-10, 0.1, 0.3,
            0.1 + 0.2, 1.0 / 3, 0.5, 1,
            1.0000000000000002, 2.5, 40.234523452345234, 1_015_555_132.0, 0x1p53, 0x1p63, 1e308,
            .greatestFiniteMagnitude,
        ] as [Double]).map(ItemValue.double))

    /// azure-mobile-apps 438 and 574: truncated milliseconds and digits.
    private static let dates = CorpusValues(
        column: "due",
        values: [
            "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000001Z", "1582-10-15T00:00:00Z",
            "1899-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.9999999Z",
            "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", "2000-02-29T12:00:00Z",
            "2001-09-09T01:46:40Z",
            "2014-05-30T18:30:00Z", "2014-05-30T18:30:00.0Z", "2014-05-30T18:30:00.000Z",
            "2014-05-30T18:30:00.705Z", "2014-05-30T18:30:00.7050001Z", "2014-05-30T18:30:00.706Z",
            "2024-03-31T01:59:59.999Z", "2024-03-31T02:30:00Z", "2038-01-19T03:14:08Z",
            "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999Z",
        ].map(Fixture.date))

    private static let blobs = CorpusValues(
        column: "blob",
        values: [
            Data(), Data([0]), Data([0, 0]), Data([0, 1]), Data("a\0b".utf8), Data("text".utf8), Data([0x7f]),
            Data([0x80]), Data([0xc3, 0x28]), Data([0xed, 0xa0, 0x80]), Data([0xff]), Data([0xff, 0xfe]),
        ].map(ItemValue.data))
}
