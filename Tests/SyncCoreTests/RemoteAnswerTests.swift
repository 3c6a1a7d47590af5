// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing

@testable import SyncCore

struct RemoteAnswerTests {
    private static let read = RemoteCall(.read(id: "a"), table: "T")
    private static let query = RemoteCall(.query([], includesDeleted: false), table: "T")
    private static let insert = RemoteCall(.insert(id: "a", fields: [:]), table: "T")

    private func answer(
        to call: RemoteCall = Self.read, _ status: Int, headers: HTTPFields = [:],
        _ body: String = "",
        dialect: WireDialect = .v2
    ) async throws -> RemoteResponse {
        try await SyncClient.scripted(
            RemoteScriptedTransport(status, headers: headers, body), dialect: dialect
        )
        .send(call)
    }

    @Test func `a row comes with the version of its strong tag`() async throws {
        let answer = try await answer(200, headers: [.eTag: #""a\"b""#], #"{"id":"a","n":1}"#)
        #expect(answer.body == .row(["id": "a", "n": 1]))
        #expect(answer.version == #"a"b"#)
        #expect(answer.message == nil)
    }

    @Test(arguments: [
        ("W/\"x\"", nil), ("W/x", nil), ("\"\"", nil), ("*", nil), ("\"a\", \"b\"", nil), ("plain", "plain"),
        (#""AAAAAAAAB9E=""#, "AAAAAAAAB9E="), (#""a\""#, #"a\"#), (#""a\\"b""#, #"a\"b"#), ("", nil),
    ])
    func `an entity tag is a version only when it is strong`(tag: String, version: String?) async throws {
        #expect(try await answer(200, headers: [.eTag: tag], "{}").version == version)
    }

    @Test(arguments: ["a", "\"", "\\", "a\"b\\\"c\\\\", "\\\"", "x y", "W/\"x\""])
    func `a version survives the way there and back`(version: String) async throws {
        let transport = RemoteScriptedTransport { request in
            HTTPTransportResponse(
                status: 200, headerFields: [.eTag: request.head.headerFields[.ifMatch] ?? ""])
        }
        let answer = try await SyncClient.scripted(transport).send(
            RemoteCall(.delete(id: "a", version: version), table: "T"))
        #expect(answer.version == version)
    }

    @Test func `a list is bare or wrapped with a count`() async throws {
        let rows = [["id": "a"], ["id": "b"]].map(WireObject.init)
        let list = #"[{"id":"a"},{"id":"b"}]"#
        #expect(try await answer(to: Self.query, 200, list).body == .rows(rows, count: nil))
        #expect(try await answer(to: Self.query, 200, "[]").body == .rows([], count: nil))
        let wrapped = #"{"results":\#(list),"count":7}"#
        #expect(try await answer(to: Self.query, 200, wrapped).body == .rows(rows, count: 7))
        let items = #"{"items":\#(list),"count":7.0,"nextLink":"$skip=2"}"#
        #expect(try await answer(to: Self.query, 200, items, dialect: .v3).body == .rows(rows, count: 7))
        let negative = #"{"results":[],"count":-1}"#
        #expect(try await answer(to: Self.query, 200, negative).body == .rows([], count: nil))
    }

    @Test(arguments: ["null", "{}", #"{"results":null}"#, #"[{"id":"a"},1]"#, "[{\"id\":", "1 2"])
    func `what is no list is unreadable for a query`(body: String) async throws {
        let answer = try await answer(to: Self.query, 200, body)
        guard case .unreadable = answer.body else {
            Issue.record("\(answer.body)")
            return
        }
        let failure = try #require(answer.failure(of: Self.query, dialect: .v2))
        #expect(failure.code == .unreadableResponse)
        #expect(failure.mayRetry)
    }

    @Test(arguments: [
        "null", "[]", #"[{"id":"a"}]"#, #""text""#, "{\"id\":\"a\"", "\u{FEFF}", "\u{FEFF}[]", "x",
    ])
    func `what is no object is unreadable for a row`(body: String) async throws {
        let answer = try await answer(200, body)
        #expect(answer.failure(of: Self.read, dialect: .v2)?.code == .unreadableResponse)
    }

    @Test func `a 2xx without a body is a success for a delete alone`() async throws {
        let delete = RemoteCall(.delete(id: "a", version: nil), table: "T")
        #expect(try await answer(to: delete, 204).failure(of: delete, dialect: .v2) == nil)
        #expect(try await answer(204).failure(of: Self.read, dialect: .v2)?.code == .expectedItemInResponse)
        let list = try await answer(to: Self.query, 200).failure(of: Self.query, dialect: .v2)
        #expect(list?.code == .expectedItemsInResponse)
        #expect(list?.mayRetry == true)
    }

    @Test func `the rows of conflicts are told from errors by their id`() async throws {
        let row = try await answer(412, headers: [.eTag: "\"2\""], #"{"id":"a","n":2,"version":"2"}"#)
        #expect(row.body == .row(["id": "a", "n": 2, "version": "2"]))
        let error = try await answer(409, #"{"error":"Could not insert"}"#)
        #expect(error.body == .empty)
        #expect(error.message == "Could not insert")
    }

    @Test(arguments: [
        (#"{"error":"E","message":"M"}"#, "E"), (#"{"description":"D","message":"M"}"#, "D"),
        (#"{"message":"M"}"#, "M"), (#"{"error":{"code":"1","message":"Nested"}}"#, "Nested"),
        (#""just text""#, "just text"), ("plain text\n", "plain text "),
        ("a\u{1B}[31mb\u{202E}c", "a [31mb c"), ("{}", nil), ("", nil), ("   ", nil), ("[]", nil),
        ("<!DOCTYPE html><p>Cannot GET /</p>", "The server responded with an HTML page."),
        (" <html><body>secret</body></html>", "The server responded with an HTML page."),
    ])
    func `a refusal's reason is one clean line`(body: String, message: String?) async throws {
        #expect(try await answer(400, body).message == message)
    }

    @Test func `long texts are cut or left out`() async throws {
        let long = String(repeating: "ä", count: 2_000)
        #expect(try await answer(400, #"{"error":"\#(long)"}"#).message?.count == 501)
        #expect(try await answer(400, long).message == nil)
    }

    @Test func `a secret that the server repeats is hidden`() async throws {
        let transport = RemoteScriptedTransport(401, #"{"error":"bad token CANARY-1 for CANARY-2!"}"#)
        let client = SyncClient(
            url: try #require(URL(string: "https://example.com")), transport: transport,
            applicationKey: "CANARY-2")
        client.authenticationToken = "CANARY-1"
        #expect(try await client.send(Self.read).message == "bad token <hidden> for <hidden>!")
    }

    @Test func `a missing table is told from a missing row`() async throws {
        func code(_ status: Int, to call: RemoteCall = Self.read, _ body: String) async throws -> SyncError
            .Code?
        {
            try await answer(to: call, status, body).failure(of: call, dialect: .v2)?.code
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

    @Test func `an answer beyond the limit keeps its status`() async throws {
        let transport = RemoteScriptedTransport { _ in throw HTTPBodyLimitExceeded(status: 201, limit: 9) }
        let answer = try await SyncClient.scripted(transport).send(Self.insert)
        #expect(answer.status == 201)
        #expect(answer.failure(of: Self.insert, dialect: .v2)?.code == .unreadableResponse)
    }

    @Test func `the time to wait is passed on as it came`() async throws {
        let answer = try await answer(503, headers: [.retryAfter: "Fri, 31 Dec 1999 23:59:59 GMT"])
        #expect(answer.retryAfter == "Fri, 31 Dec 1999 23:59:59 GMT")
    }

    @Test func `an error of a transport is a failure of the network`() async throws {
        struct Broken: Error {}
        let transport = RemoteScriptedTransport { _ in throw Broken() }
        let error = await #expect(throws: SyncError.self) {
            try await SyncClient.scripted(transport).send(Self.read)
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.mayRetry == true)
        #expect((error?.cause as? NetworkFailure)?.cause is Broken)
    }

    @Test func `every status and body gives one definite failure or none`() async throws {
        let calls = [
            Self.read, Self.query, Self.insert, RemoteCall(.delete(id: "a", version: "1"), table: "T"),
        ]
        let bodies = ["", #"{"id":"a","version":"1"}"#, "[]", "<html>", "{\"id\":"]
        for call in calls {
            for status in 100...599 {
                for body in bodies {
                    let answer = try await answer(to: call, status, body)
                    let failure = answer.failure(of: call, dialect: .v2)
                    let mayRetry = [.unknown, .unavailable].contains(answer.classification)
                    #expect(failure.map { $0.mayRetry == mayRetry } ?? (answer.classification == .done))
                }
            }
        }
    }
}
