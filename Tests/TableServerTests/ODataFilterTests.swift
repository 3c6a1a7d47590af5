// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore
import Testing

@testable import TableServer

/// The values of filters for one row.
struct ODataFilterTests {
    private static let row = TableRow(
        id: "7f'x",
        fields: [
            "text": "Milk", "accent": "e\u{301}é", "empty": "", "padded": " \tx y\u{A0}", "nothing": nil,
            "done": true, "open": false, "count": 3, "big": 9_007_199_254_740_993, "half": 2.5, "minus": -7,
            "due": "2024-02-29T23:59:58.123456789+02:00", "and": 1, "list": [1, 2],
        ],
        createdAt: .noon, updatedAt: Timestamp("2024-05-30T12:00:00.1234567Z") ?? .noon, revision: 1,
        deleted: false, sequence: 1)

    private static var columns: ColumnNames {
        var columns = ColumnNames()
        for name in row.fields.keys { columns.add(name) }
        return columns
    }

    /// Returns the value that the databases compute, which is the oracle's.
    private func value(_ filter: String) throws -> Bool? {
        let expression = try ODataParser.parse(filter, columns: Self.columns)
        let oracle = expression.value(in: Self.row).boolValue
        let storages = try RowsOnEachStorage([Self.row])
        try storages.check { rows in try rows.matches(expression) == (oracle == true ? [Self.row.id] : []) }
        // What is neither true nor false is unknown.
        try storages.check { rows in
            try rows.matches(.not(expression)) == (oracle == false ? [Self.row.id] : [])
        }
        return oracle
    }

    @Test(arguments: [
        // Literals and comparisons
        "(1 eq 1)", "true", "not false", "1 ne 2", "1 lt 2", "2 le 2", "3 gt 2", "2 ge 2", "1 eq 1.0",
        "12l eq 12", "12L eq 12", "1.5d eq 1.5", "2.5m eq half", "2.5F eq half", "1e3 eq 1000",
        "1.5E-1 eq 0.15",
        "-7 eq minus", "-9223372036854775808l lt 0", "9223372036854775807L gt 0", "18446744073709551616 gt 0",
        "text eq 'Milk'", "id eq '7f''x'", "'O''Brien' eq 'O''Brien'", "'' eq empty", "'''' ne ''",
        "guid'0-a' eq '0-a'", "done eq true", "done", "not open", "deleted eq false", "version eq 'MQ=='",
        // Columns: case, operator names, columns that do not exist
        "TEXT eq 'Milk'", "CREATEDAT le updatedat", "and eq 1", "nosuch eq null", "null eq nosuch",
        // Numbers are exact
        "big eq 9007199254740993", "big ne 9007199254740992", "big gt 9007199254740992.0",
        "9007199254740992.0 lt big", "big lt 1e300", "-1e300 lt big",
        // Text is compared by bytes
        "'a' gt 'B'", "'e\u{301}' ne 'é'", "'e\u{301}' lt 'é'", "'ab' gt 'a'", "text gt 'Mil'",
        // Dates are compared by instant
        "updatedAt eq datetimeoffset'2024-05-30T12:00:00.1234567Z'",
        "updatedAt eq datetimeoffset'2024-05-30T14:00:00.123456700+02:00'",
        "updatedAt eq datetimeoffset'2024-05-30T14:00:00.123456700 02:00'",
        "updatedAt gt datetimeoffset'2024-05-30T12:00:00.123Z'", "createdAt eq datetime'2024-05-30T12:00:00'",
        "due eq datetimeoffset'2024-02-29T21:59:58.123456789Z'",
        "due lt datetimeoffset'2024-02-29T21:59:58.12345679Z'", "datetimeoffset'2024-01-01T00:00:00Z' lt due",
        // Precedence
        "true or false and false", "not false and true", "not (true and false)", "1 add 2 mul 3 eq 7",
        "(1 add 2) mul 3 eq 9", "10 sub 2 sub 3 eq 5", "not open eq true", "1 lt 2 eq true",
        "- 3 eq 0 sub count",
        "open or done and text eq 'Milk'", "((((done))))",
        // Arithmetic
        "count add 1 eq 4", "count sub 5 eq -2", "count mul half eq 7.5", "7 div 2 eq 3", "-7 div 2 eq -3",
        "7 div 2.0 eq 3.5", "7 mod 4 eq 3", "-7 mod 4 eq -3",
        "9223372036854775807 add 1 gt 9223372036854775807",
        // Functions
        "startswith(text,'Mi')", "endswith(text, 'lk')", "substringof('il', text)", "startswith(text,'')",
        "substringof('',empty)", "tolower(text) eq 'milk'", "toupper(text) eq 'MILK'", "length(text) eq 4",
        "length(accent) eq 3", "indexof(text,'l') eq 2", "indexof(text,'z') eq -1",
        "indexof(accent,'é') eq 2",
        "concat(concat(text,'-'),'x') eq 'Milk-x'", "trim(padded) eq 'x y'", "year(due) eq 2024",
        "month(due) eq 2", "day(due) eq 29", "hour(due) eq 21", "minute(due) eq 59", "second(due) eq 58",
        "hour(updatedAt) eq 12", "round(2.5) eq 3", "round(-2.5) eq -3", "floor(2.9) eq 2",
        "floor(-2.1) eq -3",
        "ceiling(2.1) eq 3", "floor(count) eq 3", "startswith(text,'Mi') eq true",
        // Null, and types that do not compare
        "nothing eq null", "not (nothing ne null)", "null eq null", "text ne null", "text ne 3", "done ne 1",
        "done or nothing eq 1", "not (open and nothing eq 1)", "list ne null",
    ])
    func `is true`(_ filter: String) throws {
        #expect(try value(filter) == true)
    }

    @Test(arguments: [
        "(1 eq 0)", "false", "not true", "done eq false", "text eq 'milk'", "text eq null", "nothing ne null",
        "null ne null", "text eq 3", "open and nothing eq 1", "id gt '7f''x'", "list eq 1",
        "updatedAt gt datetimeoffset'2024-05-30T12:00:00.1234567Z'", "startswith('Mi',text)",
    ])
    func `is false`(_ filter: String) throws {
        #expect(try value(filter) == false)
    }

    @Test(arguments: [
        "nothing eq 1", "nosuch ne 1", "not (nothing eq 1)", "nothing gt null", "null lt 1",
        "done and nothing eq 1",
        "open or nothing eq 1", "nosuch eq nothing", "1 div 0 eq 1", "5 mod 0 eq 0", "5.5 mod 2 eq 1.5",
        "text gt 3", "done lt 2", "length(nothing) eq 0", "startswith(count,'3')", "nothing", "not text",
        "text lt datetimeoffset'2024-01-01T00:00:00Z'", "year(text) eq 1", "list lt 3", "-text eq 1",
    ])
    func `is unknown`(_ filter: String) throws {
        #expect(try value(filter) == nil)
    }

    @Test(arguments: [
        "", " ", "text eq", "eq 'a'", "text eq 'Milk", "text eq \"Milk\"", "text = 'Milk'",
        "text eq 1 eq",
        "(text eq 'a'", "text eq 'a')", "text eq 'a' text", "text eq 'a' or", "or text", "and done", "not",
        "1", "'a'", "1 add 2", "text eq 'a' and 1", "1 or done", "not 1", "length(text)", "length() eq 1",
        "length(text,text) eq 1", "length text eq 1", "startswith(text) eq true", "nosuch(text) eq 1",
        "1.5l eq 1", "1x eq 1", "1. eq 1", "1e eq 1", ".5 eq 1", "9223372036854775808l gt 0", "1e999 gt 0",
        "datetimeoffset'2024-13-01T00:00:00Z' eq due", "datetimeoffset'' eq due", "datetimeoffset eq 'a' 'b'",
        "binary'00' eq text", "text eq 'a'; drop table", "text eq 'a' --", "text eq 'a' /* */", "text/x eq 1",
        "té eq 1", "text eq 'a' && done", "%27", "text eq 'a'' or true", "[text] eq 1", "text eq 'a',",
    ])
    func `is an error with an offset and a reason`(_ filter: String) throws {
        let error = #expect(throws: ODataError.self) { try ODataParser.parse(filter, columns: Self.columns) }
        #expect(error?.problem.isEmpty == false)
        #expect((0...filter.utf8.count).contains(error?.offset ?? -1))
    }

    @Test(arguments: [
        ("(", "true", ")"), ("not ", "true", ""), ("- ", "1", " eq 1"),
        ("length(concat('',", "''", ")) eq 1"),
        ("", "1", " add 1"), ("", "true", " eq true"), ("true and (true or ", "true", ")"),
    ])
    func `deep nesting is an error`(_ before: String, _ core: String, _ after: String) throws {
        let isLeftChain = before.isEmpty
        func nested(_ depth: Int) -> String {
            let filter = String(repeating: before, count: depth) + core
            let close = before == "- " ? "" : String(repeating: after, count: depth)
            return filter + close + (before == "- " ? after : isLeftChain && core == "1" ? " eq 1" : "")
        }
        if before != "length(concat(''," { _ = try ODataParser.parse(nested(20), columns: Self.columns) }
        let error = #expect(throws: ODataError.self) {
            try ODataParser.parse(nested(100_000), columns: Self.columns)
        }
        #expect(error?.problem.contains("deeper") == true)
    }

    /// Each pair of parentheses makes the chain behind it the operand of a higher one.
    @Test func `chains that begin with chains in parentheses are deep nesting`() throws {
        var filter = String(repeating: "(", count: 99) + "true"
        for level in (0..<100).reversed() {
            filter += String(repeating: " eq true", count: 100 - level) + (level > 0 ? ")" : "")
        }
        let error = #expect(throws: ODataError.self) { try ODataParser.parse(filter, columns: Self.columns) }
        #expect(error?.problem.contains("deeper") == true)
        // Lists in lists are accepted up to the limit.
        var lists = "true"
        for _ in 0..<90 { lists = "(\(lists) and true or true)" }
        _ = try ODataParser.parse(lists, columns: Self.columns)
    }

    @Test func `a long list of alternatives does not count as deep nesting`() throws {
        let filter = (0..<1000).map { "count eq \($0)" }.joined(separator: " or ")
        #expect(try value(filter) == true)
        #expect(try value("not (\(filter)) or (\(filter))") == true)
    }

    @Test func `an escaped quote does not end a string`() throws {
        let attack = "x' or true or 'a' eq 'a"
        let filter = "text eq '\(attack.replacing("'", with: "''"))'"
        #expect(try value(filter) == false)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random filters are parsed or are an error, without a crash`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let storages = try RowsOnEachStorage([Self.row])
        let words = [
            "(", ")", ",", "'", "-", " ", "not ", " and ", " or ", " eq ", "text", "1", "1.5", "null", "true",
            "length(", "datetimeoffset'", "é", "\0", "startswith(", " add ", "''", "9", "e", "l",
        ]
        for _ in 0..<500 {
            let filter = (0..<12).map { _ in words.randomElement(using: &generator) ?? "" }.joined()
            let expression: ODataExpression
            do throws(ODataError) {
                expression = try ODataParser.parse(filter, columns: Self.columns)
            } catch {
                #expect(!error.problem.isEmpty)
                continue
            }
            try storages.check(filter) { rows in
                _ = try rows.matches(expression)
                return true
            }
        }
    }
}
