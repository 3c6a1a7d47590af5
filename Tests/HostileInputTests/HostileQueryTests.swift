// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TestSupport
import Testing

/// Queries with hostile names, constants and sizes: a typed error, or the matching items on every store and the server.
@Suite struct HostileQueryTests {
    static let items: [[String: ItemValue]] = [
        ["id": "1", "text": "O'Brien", "integer": .int(.max), "double": -0.0, "bool": true],
        ["id": "2", "text": "%_\\", "integer": .int(.min), "double": .double(.greatestFiniteMagnitude)],
        ["id": "3", "text": "a&$top=1#?/+ b", "integer": 0, "date": .date(.unixEpoch)],
        ["id": "4", "text": "' or 1 eq 1 or '", "integer": .int((1 << 53) + 1), "double": 0.5],
        ["id": "5", "text": "\u{0}\r\n\"", "integer": -1, "bool": false],
        ["id": "6", "note": "mine"],
    ]

    enum Expected: Sendable {
        case ids(String)
        case refused(SyncError.Code)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let query: TableQuery
        let expected: Expected
        /// Whether the server is asked too.
        var isRemote = true
        var testDescription: String { name }
    }

    private static func matching(_ name: String, _ filter: Filter, _ ids: String, remote: Bool = true) -> Case
    {
        Case(name: name, query: Thing.query.where(filter), expected: .ids(ids), isRemote: remote)
    }

    private static func refused(
        _ name: String, _ query: TableQuery, _ code: SyncError.Code = .filterNotSupported
    ) -> Case {
        Case(name: name, query: query, expected: .refused(code))
    }

    private static func text(_ text: String, _ ids: String) -> Case {
        matching("text == \(text.debugDescription)", .column("text") == text, ids)
    }

    private static let names = [
        "", " ", "nosuch", "Text", "TEXT", "text ", "text\"", "\"text\"", "[text]", "`text`", "text;--",
        "text or 1", "1", "*",
        "rowid", "_rowid_", "oid", "__version", "MS_TableOperations", "sqlite_master", "te\u{0}xt",
        "text) or (1 eq 1", "é", "$filter",
        "text'", "Thing.text", "(SELECT 1)", String(repeating: "t", count: 100_000),
    ]

    static let cases: [Case] =
        names.flatMap { name in
            [
                refused("filter by \(name.prefix(30))", Thing.query.where(.column(name) == 1)),
                refused("order by \(name.prefix(30))", Thing.query.order(by: name)),
            ]
        }
        + [
            // Text constants
            text("O'Brien", "1"), text("O''Brien", ""), text("%_\\", "2"), text("%", ""), text("_", ""),
            text("a&$top=1#?/+ b", "3"),
            text("' or 1 eq 1 or '", "4"), text("\u{0}\r\n\"", "5"), text("", ""), text("o'brien", ""),
            text("'", ""), text("''", ""),
            text("null", ""), text("O'Brien\u{0}", ""),
            matching("prefix %", .hasPrefix(.column("text"), "%"), "2"),
            matching("contains _", .contains(.column("text"), "_"), "2"),
            matching("suffix \\", .hasSuffix(.column("text"), "\\"), "2"),
            matching("contains quote", .contains(.column("text"), "'"), "1 4"),
            matching("empty prefix", .hasPrefix(.column("text"), ""), "1 2 3 4 5"),
            matching("contains NUL", .contains(.column("text"), "\u{0}"), "5"),
            matching("contains *", .contains(.column("text"), "*"), ""),
            // Numbers
            matching("max", .column("integer") == Int64.max, "1"),
            matching("min", .column("integer") == Int64.min, "2"),
            matching("above max", .column("integer") < 0x1p63, "1 2 3 4 5"),
            matching("exact integer", .column("integer") == Double(0x1p53), ""),
            matching("2^53+1", .column("integer") == Int64((1 << 53) + 1), "4"),
            matching("minus zero", .column("double") == 0.0, "1"),
            matching("zero", .column("double") == -0.0, "1"),
            refused("NaN", Thing.query.where(.column("double") == Double.nan)),
            refused("infinity", Thing.query.where(.column("double") < Double.infinity)),
            matching("overflow", .column("integer") + Int64.max > 0, "1 3 4 5"),
            matching("division by zero", .column("integer") / 0 == 0, ""),
            matching("min / -1", .column("integer") / -1 > 0, "2 5", remote: false),
            matching("min % -1", .column("integer") % -1 == 0, "1 2 3 4 5", remote: false),
            matching("date before", .column("date") < Timestamp.unixEpoch.advanced(by: .nanoseconds(1)), ""),
            // Three-valued logic
            matching("null", .isNull(.column("text")), "6"),
            matching("not null", !.isNull(.column("text")), "1 2 3 4 5"),
            matching("not equal", .column("text") != "x", "1 2 3 4 5"),
            matching("local-only", .column("note") == "mine", "6", remote: false),
            matching("empty list", .isIn(.column("text"), [String]()), ""),
            matching("no conditions", .all([]), "1 2 3 4 5 6"),
            matching("no alternatives", .any([]), ""),
            matching(
                "long list", .isIn(.column("integer"), (0..<40_000).map { Int64($0) }), "3", remote: false),
            matching(
                "many alternatives", .any((0..<10_000).map { .column("integer") == Int64($0) }), "3",
                remote: false),
            matching(
                "deep not", (0..<900).reduce(.column("integer") == 0) { filter, _ in !filter }, "3",
                remote: false),
            refused(
                "deeper not",
                Thing.query.where((0..<1001).reduce(.column("integer") == 0) { filter, _ in !filter })),
            // Types
            refused("text and integer", Thing.query.where(.column("text") == 1)),
            refused("integer and text", Thing.query.where(.column("integer") == "1")),
            refused("bool and integer", Thing.query.where(.column("bool") == 1)),
            refused("date and text", Thing.query.where(.column("date") == "2020-01-01T00:00:00Z")),
            refused("JSON", Thing.query.where(.column("json") == "x")),
            refused("order by JSON", Thing.query.order(by: "json")),
            refused("prefix of integer", Thing.query.where(.hasPrefix(.column("integer"), "1"))),
            refused("arithmetic on text", Thing.query.where(.column("text") + 1 == 2)),
            refused(
                "too few arguments",
                Thing.query.where(FilterExpression.call(.concat, [.column("text")]) == "x")),
            refused("no arguments", Thing.query.where(FilterExpression.call(.tolower, []) == "x")),
            refused(
                "too many arguments",
                Thing.query.where(FilterExpression.call(.year, [.column("date"), .column("date")]) == 1)),
            refused("select", Thing.query.select("nosuch")),
            refused("select injection", Thing.query.select("*,(SELECT 1)")),
            // Windows
            refused("negative offset", Thing.query.offset(-1), .invalidParameter),
            refused("lowest offset", Thing.query.offset(.min), .invalidParameter),
            refused("negative limit", Thing.query.limit(-1), .invalidParameter),
            refused("lowest limit", Thing.query.limit(.min), .invalidParameter),
            Case(name: "limit 0", query: Thing.query.limit(0), expected: .ids(""), isRemote: false),
            Case(
                name: "highest limit", query: Thing.query.limit(.max), expected: .ids("1 2 3 4 5 6"),
                isRemote: false),
            Case(
                name: "highest offset", query: Thing.query.offset(.max), expected: .ids(""), isRemote: false),
            Case(
                name: "highest window", query: Thing.query.offset(.max).limit(.max), expected: .ids(""),
                isRemote: false),
            Case(
                name: "offset and highest limit", query: Thing.query.order(by: "id").offset(4).limit(.max),
                expected: .ids("5 6"), isRemote: false),
        ]

    @Test(arguments: StoreKind.allCases)
    func `a hostile query is refused, or finds the matching items, locally and on the server`(
        _ kind: StoreKind
    ) async throws {
        try await Client.run(on: kind) { client in
            for item in Self.items { try await client.table.insert(item) }
            try await client.context.push()
            let before = try await client.contents()
            let remote = client.context.client.table(Thing.name)
            for query in Self.cases {
                switch query.expected {
                case .ids(let ids):
                    let expected = ids.split(separator: " ").map(String.init)
                    let local = try await client.table.items(matching: query.query).items.map(\.id)
                    #expect(local.sorted() == expected, "\(query.name)")
                    guard query.isRemote else { continue }
                    let found = try await remote.query(query.query).items.map(\.id)
                    #expect(found.sorted() == expected, "\(query.name), on the server")
                case .refused(let expected):
                    let read = try await code { _ = try await client.table.items(matching: query.query) }
                    #expect(read == expected, "\(query.name)")
                    client.server.removeRequests()
                    let pull = try await code { try await client.context.pull(query.query) }
                    #expect(pull == expected || pull == .invalidParameter, "\(query.name)")
                    let purge = try await code {
                        try await client.context.purge(query.query, pending: .discard)
                    }
                    #expect(purge == expected, "\(query.name)")
                    #expect(client.server.requests.isEmpty, "\(query.name)")
                }
            }
            #expect(try await client.contents() == before)
        }
    }

    /// The Kelvin sign is canonically equivalent to the letter K. The columns of a wide table are looked up in another way.
    @Test(arguments: StoreKind.allCases, [1, 9])
    func `a name that is only equivalent to a column's names no column`(
        _ kind: StoreKind, columnCount: Int
    ) async throws {
        let names = ["Kind"] + (1..<columnCount).map { "column\($0)" }
        let definition = SyncTableDefinition("Kept", columns: names.map { SyncColumn($0, .text) })
        try await withTemporaryDirectory { directory in
            let store = try kind.open(at: directory.appending(path: "store").path, tables: [definition])
            let client = SyncClient(url: HostileServer.url, transport: try HostileServer())
            let context = SyncContext(client: client, dataSource: store)
            let table = context.table("Kept")
            try await table.insert(["id": "1", "Kind": "a"])
            for name in ["nosuch", "\u{212A}ind"] {
                let query = TableQuery("Kept")
                for query in [query.where(.column(name) == "a"), query.order(by: name), query.select(name)] {
                    let read = try await code { _ = try await table.items(matching: query) }
                    #expect(read == .filterNotSupported)
                }
                let written = try await code { try await table.update(id: "1", [name: "b"]) }
                #expect(written == .invalidItem)
            }
            #expect(try await table.item(id: "1")?["Kind"] == "a")
            try await context.close()
        }
    }
}
