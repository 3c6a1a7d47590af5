// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing

@testable import SyncCore

struct RemoteResponseTests {
    private static let read = RemoteCall(.read(id: "a"), table: "T")
    private static let query = RemoteCall(.query([], includesDeleted: false), table: "T")
    private static let insert = RemoteCall(.insert(id: "a", fields: [:]), table: "T")

    private func response(
        to call: RemoteCall = Self.read, _ status: Int, headers: HTTPFields = [:],
        _ body: String = "",
        dialect: WireDialect = .v2
    ) async throws -> RemoteResponse {
        try await SyncClient.scripted(
            ScriptedTransport(status, headers: headers, body), dialect: dialect
        )
        .send(call)
    }

    @Test func `a row has the version of its strong entity tag`() async throws {
        let response = try await response(200, headers: [.eTag: #""a\"b""#], #"{"id":"a","n":1}"#)
        #expect(response.body == .row(["id": "a", "n": 1]))
        #expect(response.version == #"a"b"#)
        #expect(response.message == nil)
    }

    @Test(arguments: [
        ("W/\"x\"", nil), ("W/x", nil), ("\"\"", nil), ("*", nil), ("\"a\", \"b\"", nil), ("plain", "plain"),
        (#""AAAAAAAAB9E=""#, "AAAAAAAAB9E="), (#""a\""#, #"a\"#), (#""a\\"b""#, #"a\"b"#), ("", nil),
    ])
    func `an entity tag is a version only when it is strong`(tag: String, version: String?) async throws {
        #expect(try await response(200, headers: [.eTag: tag], "{}").version == version)
    }

    @Test(arguments: ["a", "\"", "\\", "a\"b\\\"c\\\\", "\\\"", "x y", "W/\"x\""])
    func `a version is unchanged after a round trip`(version: String) async throws {
        let transport = ScriptedTransport { request in
            HTTPTransportResponse(
                status: 200, headerFields: [.eTag: request.head.headerFields[.ifMatch] ?? ""])
        }
        let response = try await SyncClient.scripted(transport).send(
            RemoteCall(.delete(id: "a", version: version), table: "T"))
        #expect(response.version == version)
    }

    @Test func `a list of rows is an array or an object with a count`() async throws {
        let rows = [["id": "a"], ["id": "b"]].map(WireObject.init)
        let list = #"[{"id":"a"},{"id":"b"}]"#
        #expect(try await response(to: Self.query, 200, list).body == .rows(rows, count: nil))
        #expect(try await response(to: Self.query, 200, "[]").body == .rows([], count: nil))
        let wrapped = #"{"results":\#(list),"count":7}"#
        #expect(try await response(to: Self.query, 200, wrapped).body == .rows(rows, count: 7))
        let items = #"{"items":\#(list),"count":7.0,"nextLink":"$skip=2"}"#
        #expect(try await response(to: Self.query, 200, items, dialect: .v3).body == .rows(rows, count: 7))
        let negative = #"{"results":[],"count":-1}"#
        #expect(try await response(to: Self.query, 200, negative).body == .rows([], count: nil))
    }

    @Test(arguments: ["null", "{}", #"{"results":null}"#, #"[{"id":"a"},1]"#, "[{\"id\":", "1 2"])
    func `a body that is not a list is unreadable for a query`(body: String) async throws {
        let response = try await response(to: Self.query, 200, body)
        guard case .unreadable = response.body else {
            Issue.record("\(response.body)")
            return
        }
        let failure = try #require(response.failure(of: Self.query, dialect: .v2))
        #expect(failure.code == .unreadableResponse)
        #expect(failure.mayRetry)
    }

    @Test(arguments: [
        "null", "[]", #"[{"id":"a"}]"#, #""text""#, "{\"id\":\"a\"", "\u{FEFF}", "\u{FEFF}[]", "x",
    ])
    func `a body that is not an object is unreadable for a row`(body: String) async throws {
        let response = try await response(200, body)
        #expect(response.failure(of: Self.read, dialect: .v2)?.code == .unreadableResponse)
    }

    @Test func `a 2xx response without a body is a success only for a delete`() async throws {
        let delete = RemoteCall(.delete(id: "a", version: nil), table: "T")
        #expect(try await response(to: delete, 204).failure(of: delete, dialect: .v2) == nil)
        #expect(try await response(204).failure(of: Self.read, dialect: .v2)?.code == .expectedItemInResponse)
        let list = try await response(to: Self.query, 200).failure(of: Self.query, dialect: .v2)
        #expect(list?.code == .expectedItemsInResponse)
        #expect(list?.mayRetry == true)
    }

    @Test(arguments: [(200, ""), (204, ""), (200, "[]")])
    func `a response without events is not a change feed`(status: Int, body: String) async throws {
        let changes = RemoteCall(.changes(others: [], after: nil, wait: 0), table: "T")
        let failure = try await response(to: changes, status, body).failure(of: changes, dialect: .v2)
        #expect(failure?.code == .unreadableResponse && failure?.mayRetry == true)
        #expect(failure?.message == "The response is not a change feed.")
    }

    @Test func `the error of an unavailable service has the wait that the server asks for`() async throws {
        let now = try #require(Timestamp("2026-08-02T12:00:00Z"))
        for (text, delay) in [
            ("120", Duration.seconds(120)), ("Sun, 02 Aug 2026 12:00:30 GMT", .seconds(30)), ("soon", nil),
        ] {
            let response = try await response(503, headers: [.retryAfter: text])
            #expect(response.failure(of: Self.read, dialect: .v2, now: now)?.retryAfter == delay)
        }
    }

    @Test func `a conflict response has a row only when its body has an id`() async throws {
        let row = try await response(412, headers: [.eTag: "\"2\""], #"{"id":"a","n":2,"version":"2"}"#)
        #expect(row.body == .row(["id": "a", "n": 2, "version": "2"]))
        let error = try await response(409, #"{"error":"Could not insert"}"#)
        #expect(error.body == .empty)
        #expect(error.message == "Could not insert")
    }

    @Test(arguments: [
        (#"{"error":"E","message":"M"}"#, "E"), (#"{"description":"D","message":"M"}"#, "D"),
        (#"{"message":"M"}"#, "M"), (#"{"error":{"code":"1","message":"Nested"}}"#, "Nested"),
        (
            #"[{"errorMessage":"Too long."},{"memberNames":[]},{"errorMessage":"Missing."}]"#,
            "Too long. Missing."
        ),
        (#""just text""#, "just text"), ("plain text\n", "plain text "),
        ("a\u{1B}[31mb\u{202E}c", "a [31mb c"), ("{}", nil), ("", nil), ("   ", nil), ("[]", nil),
        ("<!DOCTYPE html><p>Cannot GET /</p>", "The server responded with an HTML page."),
        (" <html><body>secret</body></html>", "The server responded with an HTML page."),
    ])
    func `the message of an error response is one line without control characters`(
        body: String, message: String?
    ) async throws {
        #expect(try await response(400, body).message == message)
    }

    @Test func `long messages are truncated or omitted`() async throws {
        let long = String(repeating: "ä", count: 2_000)
        #expect(try await response(400, #"{"error":"\#(long)"}"#).message?.count == 501)
        #expect(try await response(400, long).message == nil)
    }

    @Test(arguments: ["Bearer CANARY", "CANARY"])
    func `a credential of middleware in the server's message is hidden`(_ credential: String) async throws {
        struct Authorization: HTTPMiddleware {
            let credential: String

            func intercept(
                _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
            ) async throws -> HTTPTransportResponse {
                var request = request
                request.head.headerFields[.authorization] = credential
                return try await next(request)
            }
        }
        let transport = ScriptedTransport(400, #"{"error":"'\#(credential)' is bad, so is CANARY."}"#)
        let client = SyncClient(
            url: try #require(URL(string: "https://example.com")),
            transport: transport.intercepted(by: Authorization(credential: credential)))
        #expect(try await client.send(Self.read).message == "'<hidden>' is bad, so is <hidden>.")
    }

    @Test func `a credential in the server's message is hidden`() async throws {
        let transport = ScriptedTransport(401, #"{"error":"bad token CANARY-1 for CANARY-2!"}"#)
        let client = SyncClient(
            url: try #require(URL(string: "https://example.com")), transport: transport,
            applicationKey: "CANARY-2")
        client.authenticationToken = "CANARY-1"
        #expect(try await client.send(Self.read).message == "bad token <hidden> for <hidden>!")
    }

    @Test func `a missing table and a missing row have different error codes`() async throws {
        func code(_ status: Int, to call: RemoteCall = Self.read, _ body: String) async throws -> SyncError
            .Code?
        {
            try await response(to: call, status, body).failure(of: call, dialect: .v2)?.code
        }
        let page = "<!DOCTYPE html><pre>Cannot POST /tables/nosuch</pre>"
        #expect(try await code(404, page) == .tableNotOnServer)
        #expect(try await code(404, "Cannot GET /tables/nosuch/a") == .tableNotOnServer)
        #expect(try await code(404, to: Self.insert, #"{"error":"no such table"}"#) == .tableNotOnServer)
        #expect(try await code(404, to: Self.query, "") == .tableNotOnServer)
        #expect(try await code(404, #"{"error":"The item does not exist"}"#) == .itemNotOnServer)
        #expect(try await code(404, "") == .itemNotOnServer)
        #expect(try await code(404, "<html>nothing here</html>") == .serviceUnavailable)
        #expect(try await code(500, page) == .serviceUnavailable)
    }

    @Test func `a response beyond the body limit keeps its status`() async throws {
        let transport = ScriptedTransport { _ in throw HTTPBodyLimitExceeded(status: 201, limit: 9) }
        let response = try await SyncClient.scripted(transport).send(Self.insert)
        #expect(response.status == 201)
        #expect(response.failure(of: Self.insert, dialect: .v2)?.code == .unreadableResponse)
    }

    @Test func `the Retry-After header is returned unchanged`() async throws {
        let response = try await response(503, headers: [.retryAfter: "Fri, 31 Dec 1999 23:59:59 GMT"])
        #expect(response.retryAfter == "Fri, 31 Dec 1999 23:59:59 GMT")
    }

    @Test func `an error of the transport is a network failure`() async throws {
        struct Broken: Error {}
        let transport = ScriptedTransport { _ in throw Broken() }
        let error = await #expect(throws: SyncError.self) {
            try await SyncClient.scripted(transport).send(Self.read)
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.mayRetry == true)
        #expect((error?.cause as? NetworkFailure)?.cause is Broken)
    }

    @Test func `every status and body is either a success or one error`() async throws {
        let calls = [
            Self.read, Self.query, Self.insert, RemoteCall(.delete(id: "a", version: "1"), table: "T"),
        ]
        let bodies = ["", #"{"id":"a","version":"1"}"#, "[]", "<html>", "{\"id\":"]
        for call in calls {
            for status in 100...599 {
                for body in bodies {
                    let response = try await response(to: call, status, body)
                    let failure = response.failure(of: call, dialect: .v2)
                    let mayRetry = [.unknown, .unavailable].contains(response.classification)
                    #expect(failure.map { $0.mayRetry == mayRetry } ?? (response.classification == .done))
                }
            }
        }
    }
}
