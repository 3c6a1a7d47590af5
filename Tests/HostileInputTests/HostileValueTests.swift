// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

/// Values of a server and of the app: each is stored exactly, or refused.
@Suite struct HostileValueTests {
    static let served: [(column: String, json: String, ItemValue?)] = [
        ("bool", "true", true), ("bool", "false", false), ("bool", "null", .null), ("bool", "1", nil),
        ("bool", "0", nil),
        ("bool", "\"true\"", nil), ("bool", "\"\"", nil), ("bool", "[]", nil), ("bool", "{}", nil),
        ("integer", "0", 0), ("integer", "-0", 0), ("integer", "1.0", 1), ("integer", "1e3", 1000),
        ("integer", "9223372036854775807", .int(.max)), ("integer", "-9223372036854775808", .int(.min)),
        ("integer", "9223372036854775808", nil), ("integer", "-9223372036854775809", .int(.min)),
        ("integer", "9007199254740993", .int((1 << 53) + 1)), ("integer", "1.5", nil),
        ("integer", "9007199254740993.0", .int((1 << 53) + 1)),
        ("integer", "-9223372036854775808.00", .int(.min)),
        ("integer", "9007199254740993.5", .int((1 << 53) + 2)),
        ("double", "9007199254740993.0", .double(0x1p53)),
        ("integer", "1e19", nil),
        ("integer", "1e999", nil), ("integer", "\"1\"", nil), ("integer", "true", nil),
        ("integer", "[1]", nil),
        ("double", "1", 1.0), ("double", "-0", -0.0), ("double", "-0.0", -0.0),
        ("double", "5e-324", .double(.leastNonzeroMagnitude)), ("double", "1e-400", 0.0),
        ("double", "1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("double", "1e309", nil),
        ("double", "-1e309", nil), ("double", "9007199254740993", .double(0x1p53)),
        ("double", "\"1.5\"", nil),
        ("double", "true", nil), ("double", "\"NaN\"", nil), ("double", "{}", nil),
        ("text", "\"\"", ""), ("text", #""\u0000""#, "\u{0}"), ("text", #""\ud83d\ude00""#, "😀"),
        ("text", #""\ud800""#, nil), ("text", #""\ude00\ud83d""#, nil), ("text", #""\q""#, nil),
        ("text", #""\u202e""#, "\u{202E}"), ("text", "\"'; DROP TABLE Thing;--\"", "'; DROP TABLE Thing;--"),
        ("text", #""\u0065\u0301""#, "e\u{301}"), ("text", "5", nil), ("text", "true", nil),
        ("text", "{}", nil),
        ("text", "[\"a\"]", nil), ("text", #""\ufffe\uffff""#, "\u{FFFE}\u{FFFF}"),
        ("date", "\"2024-02-29T00:00:00Z\"", date("2024-02-29T00:00:00Z")),
        ("date", "\"2023-02-29T00:00:00Z\"", nil),
        ("date", "\"0001-01-01T00:00:00Z\"", date("0001-01-01T00:00:00Z")),
        ("date", "\"0000-01-01T00:00:00Z\"", nil),
        ("date", "\"9999-12-31T23:59:59.999999999Z\"", date("9999-12-31T23:59:59.999999999Z")),
        ("date", "\"10000-01-01T00:00:00Z\"", nil), ("date", "\"-0001-01-01T00:00:00Z\"", nil),
        ("date", "\"2016-12-31T23:59:60Z\"", date("2017-01-01T00:00:00Z")),
        ("date", "\"2016-12-31T24:00:00Z\"", nil),
        ("date", "\"2016-12-31T23:60:00Z\"", nil), ("date", "\"2016-12-31T23:59:61Z\"", nil),
        ("date", "\"2020-01-01T00:00:00.1234567890Z\"", nil), ("date", "\"2020-01-01T00:00:00.Z\"", nil),
        ("date", "\"2020-01-01T00:00:00+14:00\"", date("2019-12-31T10:00:00Z")),
        ("date", "\"0001-01-01T00:00:00+14:00\"", nil), ("date", "\"9999-12-31T23:59:59-14:00\"", nil),
        ("date", "\"2020-01-01T00:00:00\"", date("2020-01-01T00:00:00Z")),
        ("date", "\"2020-1-1T0:0:0Z\"", nil),
        ("date", "\"\"", nil), ("date", "0", nil), ("date", "1577836800000", nil),
        ("date", "\"/Date(0)/\"", nil),
        ("date", "\"Wed, 01 Jan 2020 00:00:00 GMT\"", nil), ("date", "\" 2020-01-01T00:00:00Z\"", nil),
        ("date", "\"2020-01-01T00:00:00Z\\u0000\"", nil), ("date", "\"２020-01-01T00:00:00Z\"", nil),
        ("data", "\"\"", .data(Data())), ("data", "\"AQI=\"", .data(Data([1, 2]))),
        ("data", "\"AQI\"", .data(Data([1, 2]))),
        ("data", "\"A\"", nil), ("data", "\"A===\"", nil), ("data", "\"****\"", nil),
        ("data", "\"-_-_\"", nil),
        ("data", "\"AQI=\\n\"", nil), ("data", "5", nil), ("data", "[1,2]", nil),
        ("json", "5", 5), ("json", "\"x\"", "x"), ("json", "null", .null), ("json", "[]", []),
        ("json", "{}", [:]),
        ("json", #"{"a":1,"a":2}"#, ["a": 2]), ("json", #"{"$date":"x"}"#, ["$date": "x"]),
        ("json", #"{"\u0000":[null]}"#, ["\u{0}": [nil]]), ("json", "[1e999]", nil),
        ("json", #"["\ud800"]"#, nil),
        ("json", #"{"é":1,"e\u0301":2}"#, nil), ("json", nested(50), nested(50, [])),
        ("json", nested(51), nil),
    ]

    private static func date(_ text: String) -> ItemValue { Timestamp(text).map(ItemValue.date) ?? .null }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func nested(_ depth: Int, _ core: ItemValue) -> ItemValue {
        (1..<depth).reduce(core) { value, _ in .array([value]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `a server's value is stored exactly, or its row is listed`(_ kind: StoreKind) async throws {
        for (column, json, value) in Self.served {
            try await Client.run(on: kind) { client in
                client.server.respondOnce(
                    .init(
                        200,
                        #"[{"id":"m","\#(column)":\#(json),"updatedAt":"2020-01-01T00:00:00Z"},{"id":"z"}]"#))
                let result = try await client.pull()
                #expect(try await client.table.item(id: "z") != nil, "\(column) \(json)")
                #expect(try await client.table.item(id: "m")?[column] == value, "\(column) \(json)")
                #expect(
                    result.unreadable.map(\.column) == (value == nil ? [column] : []), "\(column) \(json)")
                if case .double(let expected)? = value,
                    case .double(let double)? = try await client.table.item(id: "m")?[column]
                {
                    #expect(double.bitPattern == expected.bitPattern, "\(column) \(json)")
                }
            }
        }
    }

    static let local: [(column: String, ItemValue, stored: ItemValue?)] = [
        ("bool", true, true), ("bool", 1, nil), ("bool", "true", nil), ("bool", .null, .null),
        ("integer", .int(.max), .int(.max)), ("integer", .int(.min), .int(.min)), ("integer", 2.0, 2),
        ("integer", 2.5, nil),
        ("integer", .double(.nan), nil), ("integer", .double(0x1p63), nil), ("integer", "2", nil),
        ("integer", true, nil),
        ("double", 2, 2.0), ("double", .int((1 << 53) + 1), nil), ("double", -0.0, -0.0),
        ("double", .double(.nan), nil),
        ("double", .double(.infinity), nil), ("double", .double(-.infinity), nil),
        ("double", .double(.signalingNaN), nil),
        ("double", .double(.leastNonzeroMagnitude), .double(.leastNonzeroMagnitude)),
        ("double", .double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude)),
        ("double", "1", nil),
        ("text", "", ""), ("text", "\u{0}", "\u{0}"), ("text", "a\u{0}b", "a\u{0}b"),
        ("text", "\r\n\t\u{1}", "\r\n\t\u{1}"),
        ("text", "\u{FFFD}\u{10FFFF}", "\u{FFFD}\u{10FFFF}"), ("text", "'\"`;--", "'\"`;--"),
        ("text", 1, nil), ("text", [], nil),
        ("text", .text(String(repeating: "😀", count: 20_000)), .text(String(repeating: "😀", count: 20_000))),
        ("date", .date(.unixEpoch), .date(.unixEpoch)),
        ("date", "2020-01-01T00:00:00Z", date("2020-01-01T00:00:00Z")),
        ("date", "tomorrow", nil), ("date", 0, nil), ("date", .data(Data()), nil),
        ("date", date("0001-01-01T00:00:00Z"), date("0001-01-01T00:00:00Z")),
        ("date", date("9999-12-31T23:59:59.999999999Z"), date("9999-12-31T23:59:59.999999999Z")),
        ("data", .data(Data()), .data(Data())), ("data", .data(Data(0...255)), .data(Data(0...255))),
        ("data", "?", nil),
        ("data", .data(Data(repeating: 7, count: 50_000)), .data(Data(repeating: 7, count: 50_000))),
        ("data", 1, nil),
        ("json", [.double(.nan)], nil), ("json", ["a": [.double(.infinity)]], nil),
        ("json", .double(.nan), nil),
        ("json", ["\u{0}": "\u{0}"], ["\u{0}": "\u{0}"]), ("json", [.data(Data([1]))], ["AQ=="]),
        ("json", ["$data": "AQ=="], ["$data": "AQ=="]), ("json", nested(50, []), nested(50, [])),
        ("json", nested(51, []), nil),
        ("note", "\u{0}mine", "\u{0}mine"), ("note", 1, nil),
    ]

    @Test(arguments: StoreKind.allCases)
    func `an app's value is stored and sent exactly, or refused and not stored`(_ kind: StoreKind)
        async throws
    {
        try await Client.run(on: kind) { client in
            for (index, (column, value, stored)) in Self.local.enumerated() {
                let before = try await client.contents()
                let id = "item\(index)"
                let code = try await code { try await client.table.insert(["id": .text(id), column: value]) }
                #expect(code == (stored == nil ? .invalidItem : nil), "\(column) \(value)")
                guard let stored else {
                    #expect(try await client.contents() == before, "\(column) \(value)")
                    continue
                }
                let item = try await client.table.item(id: id)
                #expect(item?[column] == stored, "\(column) \(value)")
            }
            try await client.expectHealthySync()
            // A second client reads what the server has.
            let items = try await client.table.items()
            try await Client.run(server: client.server) { other in
                try await other.pull()
                for item in items {
                    let expected = item.fields.filter { $0.key != "note" && !$0.value.isNull }
                    let actual = try await other.table.item(id: item.id)?.fields.filter { !$0.value.isNull }
                    #expect(actual == expected, "\(item.id)")
                }
            }
        }
    }
}
