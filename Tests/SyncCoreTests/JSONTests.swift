// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) import SyncCore
import Testing

/// JSON is read exactly as RFC 8259 defines it; any other text is refused.
@Suite struct JSONTests {
    private func parse(_ bytes: some Sequence<UInt8>) throws -> ItemValue { try ItemValue(json: Data(bytes)) }

    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", 0), ("-1", -1), ("10", 10),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .double(9223372036854775808)),
            ("-9223372036854775809", .double(-9223372036854775808)),
            ("9007199254740993", .int(9_007_199_254_740_993)), ("-0", .double(-0.0)), ("0.0", .double(0)),
            ("-0.0", .double(-0.0)), ("1e2", .double(100)), ("1E+2", .double(100)),
            ("12.5e-1", .double(1.25)),
            ("0e1", .double(0)), ("123456789012345678901234567890", .double(0x1.8ee90ff6c373ep96)),
            ("5e-324", .double(.leastNonzeroMagnitude)), ("1e-400", .double(0)),
            ("1.7976931348623157e308", .double(1.7976931348623157e308)),
            (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0000""#, "\u{0}"),
            (#""\u00e9""#, "\u{E9}"), (#""\uD83D\uDE00""#, "😀"), (#""\uFFFF""#, "\u{FFFF}"),
            (#""\u2028""#, "\u{2028}"),
            ("\"é\u{7F}😀\"", "é\u{7F}😀"), ("[]", []), ("[ ]", []), ("{}", [:]),
            (" \t\r\n[1 , 2]\n ", [1, 2]),
            (#"{"a":{"b":[null]}}"#, ["a": ["b": [nil]]]), (#"{"a":1,"a":2}"#, ["a": 2]),
            (#"{"":0}"#, ["": 0]),
            (#"{"a":1,"A":2}"#, ["a": 1, "A": 2]), (#"{"$date":"x"}"#, ["$date": "x"]),
        ] as [(String, ItemValue)])
    func `valid text is parsed`(_ text: String, _ value: ItemValue) throws {
        #expect(try parse(text.utf8) == value)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "'a'", "[1,]", "[,1]", "[1 2]", "[1", "]", "[1]]", "[1}", "{", "}",
        "{,}",
        #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{a:1}"#, #"{1:1}"#, #"{"a":1"#, "{\"a\" 1}",
        "1 2", "1,",
        "01", "-01", "00", "+1", "-", ".5", "1.", "1.e1", "1e", "1e+", "0x10", "1_000", "NaN", "Infinity",
        "-Infinity",
        "1e400", "-1e400", "1.5.2", "--1", "1-2", "\"", "\"a", "\"\\", "\"\\x\"", #""\u""#, #""\u12""#,
        #""\u12G4""#,
        #""\U0041""#, #""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, #""\uD800\uD800""#, #""\uDE00\uD83D""#,
        #""\uD83D"#,
        "\"\n\"", "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"", "// x\n1", "/* x */1", "[1]x", "\u{A0}1",
        "[\u{2028}]",
        "\"\\u００41\"", "tru", "[true", "\u{C}1", "1\u{0}",
    ])
    func `invalid text is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try parse(text.utf8) }
    }

    @Test(
        arguments: [
            [0x22, 0x80, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xE0, 0x80, 0x80, 0x22],
            [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xFF, 0x22],
            [0xFF, 0xFE, 0x31, 0x00],
            [0x22, 0x5C, 0x6E, 0x80, 0x22], [0x00], [0x31, 0x00, 0x30, 0x00],
        ] as [[UInt8]])
    func `malformed UTF-8 and other encodings are refused`(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try parse(bytes) }
    }

    @Test func `nesting deeper than one hundred levels is refused`() throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            func nested(_ depth: Int) -> String {
                String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            }
            _ = try parse(nested(100).utf8)
            #expect(throws: JSONError.self) { try parse(nested(101).utf8) }
            #expect(throws: JSONError.self) { try parse(String(repeating: open, count: 1_000_000).utf8) }
        }
    }

    @Test func `a stored value may be deeper than a value of the server, by some levels only`() throws {
        func nested(_ depth: Int) -> Data {
            Data(
                (Array(repeating: "[", count: depth) + ["1"] + Array(repeating: "]", count: depth)).joined()
                    .utf8)
        }
        let deepest = try ItemValue(json: nested(100))
        let stored: ItemValue = ["serverItem": ["undeclared": ["x": deepest]]]
        #expect(try ItemValue(storedJSON: stored.storedJSON) == stored)
        #expect(throws: JSONError.self) { try ItemValue(storedJSON: nested(111)) }
    }

    @Test func `an error gives the position`() {
        #expect { try parse("[1 x]".utf8) } throws: { error in
            (error as? JSONError)?.description == "Invalid JSON at byte 3: expected ',' or ']'."
        }
    }

    /// Values of every type, including edge cases.
    private static let values: [ItemValue] = [
        .null, true, false, 0, -1, .int(.max), .int(.min), 0.0, -0.0, 0.1, .double(.leastNonzeroMagnitude),
        .double(.greatestFiniteMagnitude), 1e21,
        "", "a\"\\/\u{0}\u{1F}\u{7F}\u{2028}é e\u{301}😀", [], [:], [nil, [1, [2.0]], "x"],
        ["a": nil, "b": ["c": [true]], "": 1],
        ["$date": "no tag"], ["$data": 1], ["$$x": 1], ["$": 1], ["$a": 1, "b": 2], ["$date": ["$data": "x"]],
        ["$\u{301}": 1], ["$$\u{FE0F}": [:]], ["$": ["$\u{200D}a": "x"]],
        ["$date": "2020-01-01T00:00:00Z"], ["$date": "2020-01-01T00:00:00Z", "b": 1],
        .data(Data()), .data(Data([0, 1, 255])),
        .array([.data(Data([7])), .object(["$x": .data(Data([1]))])]),
    ]

    private static let date = ItemValue.date(.unixEpoch)

    @Test(arguments: values + [date, .object(["d": date]), .object(["$date": date])])
    func `a stored value is read back equal`(_ value: ItemValue) throws {
        #expect(try ItemValue(storedJSON: value.storedJSON) == value)
    }

    @Test(arguments: values) func `a sent value is read back equal if JSON has its type`(
        _ value: ItemValue
    ) throws {
        guard !String(describing: value).contains("bytes") else { return }
        #expect(try ItemValue(json: value.json) == value)
    }

    @Test func `JSON is compact, with names in byte order and escaped control characters`() {
        let value: ItemValue = ["b": 1, "a": [true, nil], "Z": "\n\"\u{1}", "é": 0.5]
        #expect(
            String(decoding: value.json, as: UTF8.self)
                == "{\"Z\":\"\\u000a\\\"\\u0001\",\"a\":[true,null],\"b\":1,\"é\":0.5}")
    }

    @Test func `dates and data are sent as strings`() {
        #expect(String(decoding: Self.date.json, as: UTF8.self) == "\"1970-01-01T00:00:00.000Z\"")
        #expect(String(decoding: ItemValue.data(Data([1, 2])).json, as: UTF8.self) == "\"AQI=\"")
    }

    @Test(arguments: [
        #"{"$date":"1970-01-01T00:00:00.000Z"}"#, #"{ "$date" : "1970-01-01T00:00:00.000Z" }"#,
        #"{"\u0024date":"1970-01-01T00:00:00.00\u0030Z"}"#,
    ])
    func `a stored date is read from any equivalent JSON`(_ text: String) throws {
        #expect(try ItemValue(storedJSON: Data(text.utf8)) == Self.date)
        #expect(try ItemValue(storedJSON: Data("[\(text),\(text)]".utf8)) == [Self.date, Self.date])
    }

    @Test(arguments: [
        #"{"$date":"2020-01-01T00:00:00Z""#, #"{"$date":"2020-01-01T00:00:00Z"#, #"{"$date":""#,
        #"{"$date":"2020-01-01T00:00:00Z"]"#, #"{"$date":"2020-13-01T00:00:00Z"}"#, #"{"$date":""}"#,
        #"{"$date":"x"}"#, #"{"$data":"?"}"#, #"{"$other":1}"#, #"{"$date":1}"#,
    ])
    func `an invalid stored text is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try ItemValue(storedJSON: Data(text.utf8)) }
    }
}
