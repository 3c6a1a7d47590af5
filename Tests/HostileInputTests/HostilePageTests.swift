// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

/// Pages that no healthy server sends. A page that is not a list of rows ends the pull and changes nothing.
@Suite struct HostilePageTests {
    static let bodies: [Data] =
        [
            "[", "]", "[{", "[{}", "[{},", "[,]", "[{\"id\":\"a\"},]", "[{\"id\":\"a\"}]]",
            "[{\"id\":\"a\"}][]", "[] []", "[]x", "[]\u{0}", "//c\n[]", "/**/[]",
            "[{\"id\":\"a\"} {\"id\":\"b\"}]",
            "[{\"id\":\"a\"}{\"id\":\"b\"}]", "[{\"id\":\"a\"},\"b\"]", "[{\"id\":\"a\"},[]]", "[[]]",
            "\"[]\"", "true", "0",
            "-", "NaN", "[{id:\"a\"}]", "[{'id':'a'}]", "[{\"id\":\"a\",}]", "[{\"id\" \"a\"}]",
            "[{\"id\":}]",
            "[{\"id\":\"a\"", "[{\"id\":\"a", "[{\"id\":\"a\",\"text\":\"x", "[{\"id\":\"a\",\"json\":[[[",
            "[{\"id\":\"a\",\"text\":tru}]", "[{\"id\":\"a\",\"text\":'x'}]", "{\"results\":[]",
            "{\"results\":null}",
            "{\"results\":1}", "{\"results\":[1]}", "{\"results\":[[]]}", "{\"results\":[{}],\"count\":}",
            "{\"Results\":[]}", "{\"value\":[]}", "{\"items\":[]}", "{\"results\":[],\"results\":1}",
            "{\"error\":\"none\"}", "<?xml version=\"1.0\"?><rows/>", "callback([])", ")]}',\n[]",
            "data: []\n\n",
            "\u{FEFF}", "\u{FEFF}\u{FEFF}[]", "\u{1}[]", "\u{A0}[]", "[\u{2028}]", "\u{1F}\u{8B}\u{8}",
            String(repeating: "[", count: 1_000_000), String(repeating: "{\"a\":", count: 500_000),
            "[{\"id\":\"a\",\"json\":" + String(repeating: "[", count: 101)
                + String(repeating: "]", count: 101) + "}]",
        ].map { Data($0.utf8) }
        + [
            Data([0xFF, 0xFE, 0x5B, 0, 0x5D, 0]), Data([0, 0x5B, 0, 0x5D]), Data([0x1F, 0x8B, 8, 0, 0]),
            Data([0x80]), Data([0]), Data([0x5B, 0x7B, 0x22, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D, 0x5D]),
            Data(repeating: 0x20, count: 100_000),
        ]

    @Test(arguments: bodies)
    func `a page that is not a list of rows ends the pull and changes nothing`(body: Data) async throws {
        try await Client.run { client in
            try await client.table.insert(["id": "synced", "text": "one"])
            try await client.expectHealthySync()
            try await client.pull()
            try await client.table.update(id: "synced", ["text": "two"])
            let before = try await client.contents()

            var response = HostileServer.Response()
            response.body = body
            client.server.respond { [response] _ in response }
            var settings = PullSettings()
            settings.pending = .pullAnyway
            #expect(try await code { try await client.pull(settings) } == .pullAborted)
            #expect(try await client.contents() == before)
            try await client.expectHealthySync()
        }
    }

    /// How a client receives a row.
    enum Reading: Sendable {
        /// The row is stored.
        case stored
        /// The row is listed with this column as unreadable.
        case unreadable(String)
        /// The row is a tombstone.
        case tombstone
    }

    static let long = String(repeating: "x", count: 255)

    static let rows: [(json: String, Reading)] = [
        // Ids
        (#"{"id":"","version":"1"}"#, .unreadable("id")), (#"{"id":null}"#, .unreadable("id")),
        (#"{"id":5}"#, .unreadable("id")), (#"{"id":true}"#, .unreadable("id")), (#"{}"#, .unreadable("id")),
        (#"{"ID":"m"}"#, .unreadable("id")), (#"{"id":["m"]}"#, .unreadable("id")),
        (#"{"id":"m/n"}"#, .unreadable("id")), (#"{"id":"."}"#, .unreadable("id")),
        (#"{"id":".."}"#, .unreadable("id")), (#"{"id":"m\u0000"}"#, .unreadable("id")),
        (#"{"id":"m\nn"}"#, .unreadable("id")), (#"{"id":"m\u007f"}"#, .unreadable("id")),
        (#"{"id":"m\""}"#, .unreadable("id")), (#"{"id":"m\\n"}"#, .unreadable("id")),
        (#"{"id":"m?n=1"}"#, .unreadable("id")), (#"{"id":"m#n"}"#, .unreadable("id")),
        (#"{"id":"m+n"}"#, .unreadable("id")), (#"{"id":"m`n"}"#, .unreadable("id")),
        (#"{"id":"m\ud800"}"#, .unreadable("id")), (#"{"id":"\#(long)x"}"#, .unreadable("id")),
        (#"{"id":"\#(long)"}"#, .stored), (#"{"id":"m n"}"#, .stored), (#"{"id":"%2F"}"#, .stored),
        (#"{"id":"m'; DROP TABLE Thing;--"}"#, .stored), (#"{"id":"\u202em"}"#, .stored),
        (#"{"id":"\ud83d\ude00"}"#, .stored), (#"{"id":"A"}"#, .stored), (#"{"id":"\u0061\u0301"}"#, .stored),
        // Versions
        (#"{"id":"m","version":5}"#, .unreadable("version")),
        (#"{"id":"m","version":{}}"#, .unreadable("version")),
        (#"{"id":"m","version":true}"#, .unreadable("version")), (#"{"id":"m","version":null}"#, .stored),
        (#"{"id":"m"}"#, .stored), (#"{"id":"m","version":""}"#, .stored),
        (#"{"id":"m","version":"\""}"#, .stored), (#"{"id":"m","version":"\\"}"#, .stored),
        (#"{"id":"m","version":"a\r\nX: y"}"#, .stored), (#"{"id":"m","version":"é"}"#, .stored),
        (#"{"id":"m","version":"\u0000"}"#, .stored), (#"{"id":"m","version":"*"}"#, .stored),
        (#"{"id":"m","version":"\#(String(repeating: "v", count: 1_000_000))"}"#, .stored),
        // Times
        (#"{"id":"m","updatedAt":5}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":""}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":"now"}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":"0000-01-01T00:00:00Z"}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":"10000-01-01T00:00:00Z"}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":"2020-01-01T24:00:00Z"}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":"2020-01-01T00:00:00.0123456789Z"}"#, .unreadable("updatedAt")),
        (#"{"id":"m","updatedAt":[]}"#, .unreadable("updatedAt")), (#"{"id":"m","updatedAt":null}"#, .stored),
        (#"{"id":"m","updatedAt":"0001-01-01T00:00:00Z"}"#, .stored),
        (#"{"id":"m","updatedAt":"9999-12-31T23:59:59.999999999Z"}"#, .stored),
        (#"{"id":"m","updatedAt":"2016-12-31T23:59:60Z"}"#, .stored),
        (#"{"id":"m","updatedAt":"2020-01-01T00:00:00+14:00"}"#, .stored),
        (#"{"id":"m","createdAt":"soon"}"#, .unreadable("createdAt")),
        (#"{"id":"m","createdAt":0}"#, .unreadable("createdAt")),
        (#"{"id":"m","createdAt":"9999-12-31T23:59:59Z"}"#, .stored),
        // Deletion
        (#"{"id":"m","deleted":"true"}"#, .unreadable("deleted")),
        (#"{"id":"m","deleted":1}"#, .unreadable("deleted")),
        (#"{"id":"m","deleted":0}"#, .unreadable("deleted")),
        (#"{"id":"m","deleted":{}}"#, .unreadable("deleted")), (#"{"id":"m","deleted":null}"#, .stored),
        (#"{"id":"m","deleted":false}"#, .stored), (#"{"id":"m","deleted":true}"#, .tombstone),
        (#"{"id":"m","deleted":true,"integer":"no"}"#, .tombstone),
        (#"{"id":"m","deleted":false,"deleted":true}"#, .tombstone),
        (#"{"id":"n","id":"m"}"#, .stored),
        // Names
        (#"{"id":"m","rowid":1,"ROWID":2,"__version":"x","order":1,"select":"1"}"#, .stored),
        (#"{"id":"m","a\"b":1,"a]b":2,"a;DROP TABLE Thing":3,"😀":4,"\u0000":5,"":6}"#, .stored),
        (#"{"id":"m","Text":5,"TEXT":6}"#, .stored), (#"{"id":"m","\u00e9":1,"e\u0301":2}"#, .stored),
        (#"{"id":"m","note":"theirs"}"#, .stored), (#"{"id":"m","\#(long)\#(long)":1}"#, .stored),
        (#"{"id":"m",\#((0..<10_000).map { #""c\#($0)":\#($0)"# }.joined(separator: ","))}"#, .stored),
    ]

    @Test func `a pull continues after a row whose time is a leap second`() async throws {
        try await Client.run { client in
            let headers: HTTPFields = [.date: Timestamp(Date()).httpDate]
            let page = #"[{"id":"m","updatedAt":"2016-12-31T23:59:60Z"}]"#
            client.server.respondOnce(.init(200, headers: headers, page))
            try await client.pull()
            client.server.removeRequests()
            #expect(try await client.pull().received == 0)
            let paths = client.server.requests.map { $0.head.path ?? "" }
            #expect(paths.count == 1)
            #expect(paths.allSatisfy { $0.contains("updatedAt%20") }, "\(paths)")
        }
    }

    @Test(arguments: rows)
    func `a hostile row is stored exactly or listed, and the rows around it are stored`(
        json: String, reading: Reading
    ) async throws {
        let time = #""updatedAt":"2020-01-01T00:00:0"#
        let page = #"[{"id":"a",\#(time)1Z"},\#(json),{"id":"z",\#(time)3Z"}]"#
        try await Client.run { client in
            // Without this header no client knows that a row is dated in the future.
            let date = Timestamp(Date()).httpDate
            client.server.respondOnce(.init(200, headers: [.date: date], page))
            let result = try await client.pull()
            let ids = try await client.table.items().map(\.id)
            #expect(ids.contains("a") && ids.contains("z"))
            switch reading {
            case .stored:
                #expect(ids.count == 3)
                #expect(result.unreadable.isEmpty)
            case .unreadable(let column):
                #expect(ids.count == 2)
                #expect(result.unreadable.map(\.column) == [column])
            case .tombstone:
                #expect(ids.count == 2)
                #expect(result.unreadable.isEmpty)
            }
            try await client.expectLaterRowsArePulled()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `hostile rows are stored alike in every store`(_ kind: StoreKind) async throws {
        let page = "[" + Self.rows.map(\.json).joined(separator: ",") + "]"
        func items(on kind: StoreKind) async throws -> [Item] {
            var items: [Item] = []
            try await Client.run(on: kind) { client in
                client.server.respondOnce(.init(200, page))
                try await client.pull()
                items = try await client.table.items()
            }
            return items
        }
        let (actual, expected) = (try await items(on: kind), try await items(on: .memory))
        #expect(actual == expected)
        #expect(expected.count == 9)
    }

    @Test(arguments: [0, 1, 999, 10_000]) func `a page may have any number of rows`(count: Int) async throws {
        let rows = (0..<count).map { #"{"id":"\#($0)","updatedAt":"2020-01-01T00:00:00Z"}"# }
        try await Client.run { client in
            client.server.respondOnce(.init(200, "[\(rows.joined(separator: ","))]"))
            #expect(try await client.pull().upserted == count)
            #expect(try await client.table.items().count == count)
            try await client.expectLaterRowsArePulled()
        }
    }

    @Test(arguments: [
        "https://evil.example/tables/Thing", "//evil.example/tables/Thing",
        "http://hostile.example/api/tables/Thing",
        "https://user:password@hostile.example/api/tables/Thing", "javascript:alert(1)", "file:///etc/passwd",
        "", "?",
        "../../admin", "https://hostile.example:444/api/tables/Thing", "\u{0}",
        "https://hostile.example/api/tables/Thing",
        String(repeating: "x", count: 100_000),
    ])
    func `the link to the next page is never followed`(link: String) async throws {
        try await Client.run(dialect: .v3) { client in
            let row = #"{"id":"a","updatedAt":"2020-01-01T00:00:00Z"}"#
            let body: ItemValue = ["items": [], "nextLink": .text(link)]
            let page = String(decoding: body.json, as: UTF8.self).replacing(
                "\"items\":[]", with: "\"items\":[\(row)]")
            client.server.respondOnce(.init(200, page))
            // The second page is an empty array, which every dialect reads.
            let result = try await client.pull()
            #expect(result.upserted == 1)
            for request in client.server.requests {
                #expect(request.head.url?.host() == "hostile.example")
                #expect(request.head.url?.path() == "/api/tables/Thing")
            }
        }
    }

    @Test(
        arguments: [
            ("7", 7), ("7.0", 7), ("0", 0), ("9223372036854775807", .max), ("-1", nil), ("1.5", nil),
            ("\"7\"", nil),
            ("null", nil), ("true", nil), ("[7]", nil), ("9223372036854775808", nil), ("{}", nil),
        ] as [(String, Int?)])
    func `a total count is a whole number or an error`(json: String, count: Int?) async throws {
        try await Client.run { client in
            client.server.respond { _ in .init(200, #"{"results":[{"id":"a"}],"count":\#(json)}"#) }
            let remote = client.context.client.table(Thing.name)
            var result: QueryResult?
            let code = try await code { result = try await remote.query(Thing.query.includingTotalCount()) }
            #expect(result?.totalCount == count)
            #expect(code == (count == nil ? .expectedTotalCount : nil))
        }
    }
}
