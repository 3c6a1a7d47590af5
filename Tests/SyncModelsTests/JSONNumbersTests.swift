// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyncModels

/// Which numbers of JSON a stored value holds exactly.
@Suite struct JSONNumbersTests {
    @Test(arguments: [
        "0", "-0", "-1", "9223372036854775807", "-9223372036854775808", "0.1", "100.50", "0.001", "1e-7",
        "1E+300", "-2.5e3", "12345678901234567000", "1.7976931348623157e+308", "5e-324", "true",
        #"["\"9223372036854775809\\","1e400",{"b1.23456789012345678901":1}]"#,
    ])
    func `numbers that an integer or a double holds are exact`(_ json: String) {
        #expect(JSONNumbers.pathOfInexactNumber(in: Data(json.utf8)) == nil)
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "18446744073709551615", "12345678901234567890.12",
        "0.12345678901234567890", "1e400", "1e-400", "3e-324", #"{"a":[1,{"b":123456789012345678901}]}"#,
    ])
    func `numbers with more digits are not exact`(_ json: String) {
        #expect(JSONNumbers.pathOfInexactNumber(in: Data(json.utf8)) != nil)
    }

    @Test(arguments: [
        ("1e400", ""), ("[1,2,1e400]", "[2]"), (#"{"a":{"b":[{"c":1,"d":1e400}]}}"#, "a.b[0].d"),
        (#"{"a":{"x":[1,2]},"b":["1,{",{}],"c":1e400}"#, "c"), (#"[[{"a":"b"}],[[],[1e400]]]"#, "[1][1][0]"),
        (#"{"a\/\"b":1e400,"c":1e400}"#, #"a/"b"#), (#"{ "a" : [ true , { "b" : 1e400 } ] }"#, "a[1].b"),
    ])
    func `the path of a number that is not exact`(_ json: String, _ path: String) {
        #expect(JSONNumbers.pathOfInexactNumber(in: Data(json.utf8)) == path)
    }
}
