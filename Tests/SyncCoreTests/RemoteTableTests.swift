// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

struct RemoteTableTests {
    private static let row = #"{"id":"a","n":1,"version":"1","updatedAt":"2020-01-01T00:00:00.000Z"}"#

    private func table(
        _ status: Int, headers: HTTPFields = [:], _ body: String = ""
    ) throws -> RemoteTable {
        try SyncClient.scripted(ScriptedTransport(status, headers: headers, body)).table("T")
    }

    @Test func `writes return the server's row`() async throws {
        let table = try table(201, headers: [.eTag: "\"2\""], Self.row)
        let expected = Item(
            id: "a", fields: ["n": 1],
            system: SystemProperties(updatedAt: Timestamp("2020-01-01T00:00:00.000Z"), version: "2"))
        #expect(try await table.insert(["n": 1]) == expected)
        #expect(try await table.update(id: "a", ["n": 1], version: "1") == expected)
        #expect(try await table.update(expected) == expected)
        #expect(try await table.undelete(id: "a", version: nil) == expected)
        #expect(try await table.read(id: "a") == expected)
        try await table.delete(id: "a", version: "1")
    }

    @Test func `an update sends the item's version in If-Match, and the parameters`() async throws {
        let transport = ScriptedTransport(200, Self.row)
        let table = try SyncClient.scripted(transport).table("T")
        let item = Item(id: "a", fields: ["n": 2], system: SystemProperties(version: "7"))
        _ = try await table.update(item, parameters: ["mode": "x y"])
        _ = try await table.update(id: "a", ["n": 2], version: nil)
        #expect(transport.requests.map { $0.head.headerFields[.ifMatch] } == ["\"7\"", nil])
        #expect(transport.requests[0].head.url?.query(percentEncoded: true) == "mode=x%20y")
    }

    @Test func `a query returns items and the requested count`() async throws {
        let table = try table(200, #"{"results":[\#(Self.row)],"count":9}"#)
        let counted = try await table.query(TableQuery("T").includingTotalCount())
        #expect(counted.items.map(\.id) == ["a"])
        #expect(counted.totalCount == 9)
        #expect(try await table.query(TableQuery("T")).totalCount == nil)
        let error = await #expect(throws: SyncError.self) {
            try await self.table(200, "[]").query(TableQuery("T").includingTotalCount())
        }
        #expect(error?.code == .expectedTotalCount)
        let other = await #expect(throws: SyncError.self) { try await table.query(TableQuery("U")) }
        #expect(other?.code == .invalidParameter)
    }

    @Test func `a conflict error contains the server's row`() async throws {
        let table = try table(412, headers: [.eTag: "\"9\""], Self.row)
        let error = await #expect(throws: SyncError.self) {
            try await table.update(id: "a", ["n": 2], version: "1")
        }
        #expect(error?.code == .preconditionFailed)
        #expect(error?.message == "The row 'a' in 'T' was changed on the server since it was read.")
        let conflict = try #require(error?.cause as? ServerConflict)
        #expect(conflict.item?.system.version == "9")
        #expect(conflict.item?.fields == ["n": 1])
        #expect(!"\(try #require(error))".contains("n" + ":"))
    }

    @Test func `the error of a conflict names the row and says whether it was deleted`() async throws {
        let tombstone = #"{"id":"a","n":1,"version":"2","deleted":true}"#
        let deleted = await #expect(throws: SyncError.self) {
            try await self.table(412, tombstone).update(id: "a", ["n": 2], version: "1")
        }
        #expect(deleted?.message == "The row 'a' in 'T' was deleted on the server since it was read.")
        let exists = await #expect(throws: SyncError.self) {
            try await self.table(409, Self.row).insert(["n": 2], id: "a")
        }
        #expect(exists?.message == "The server already has a row 'a' in 'T'.")
        let undeletable = await #expect(throws: SyncError.self) {
            try await self.table(409, tombstone).insert(["n": 2], id: "a")
        }
        #expect(undeletable?.message == "The server already has a deleted row 'a' in 'T'.")
        let missing = await #expect(throws: SyncError.self) { try await self.table(404).read(id: "a") }
        #expect(missing?.message == "The server has no row 'a' in 'T'.")
    }

    @Test func `an item that the server echoes is not the server's row`() async throws {
        let table = try table(409, headers: [.eTag: "W/\"x\""], #"{"id":"a","n":1}"#)
        let error = await #expect(throws: SyncError.self) { try await table.insert(["n": 1], id: "a") }
        #expect(error?.code == .itemAlreadyOnServer)
        #expect((error?.cause as? ServerConflict)?.item == nil)
    }

    @Test(arguments: [
        (401, "", SyncError.Code.authenticationRequired, false),
        (404, #"{"error":"The item does not exist"}"#, .itemNotOnServer, false),
        (410, "", .itemNotOnServer, false),
        (404, "<html><pre>Cannot GET /tables/T/a</pre></html>", .tableNotOnServer, false),
        (404, "<html>Not here</html>", .serviceUnavailable, true),
        (400, #"{"error":"bad"}"#, .serverError, false),
        (409, "", .serverErrorWithoutMessage, false),
        (307, "", .serviceUnavailable, true),
        (429, "", .serviceUnavailable, true),
        (500, "broken", .serverError, true),
        (503, "busy", .serviceUnavailable, true),
        (200, "{\"id\":", .unreadableResponse, true),
        (204, "", .expectedItemInResponse, true),
        (200, "{}", .expectedItemInResponse, false),
    ])
    func `every other response has its error code`(
        status: Int, body: String, code: SyncError.Code, mayRetry: Bool
    ) async throws {
        let table = try table(status, body)
        let error = await #expect(throws: SyncError.self) { try await table.read(id: "a") }
        #expect(error?.code == code)
        #expect(error?.mayRetry == mayRetry)
        if code == .serverError {
            #expect(
                error?.message
                    == "The server responded with status \(status): \(status == 400 ? "bad" : "broken")")
        }
    }

    @Test(arguments: [
        ("https://example.com/api", "Check the name and the URL."),
        (
            "https://example.com/api/Tables/",
            "The URL must not contain '/tables', which the client adds: remove it from the URL."
        ),
    ])
    func `the error of a missing table names the client's URL`(url: String, remedy: String) async throws {
        let client = try SyncClient.scripted(
            ScriptedTransport(404, "<html><pre>Cannot GET /tables/T/a</pre></html>"), url: url)
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .tableNotOnServer)
        #expect(
            error?.message == """
                The server has no table 'T': it does not know 'tables/T' below the client's URL '\(url)'. \(remedy)
                """)
    }

    @Test func `a body that is cut off when the connection closes may be retried`() async throws {
        try await withEachTransport { _ in
            [.send("HTTP/1.1 200 OK\r\n\r\n{\"id\":\"a\",")]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await SyncClient(url: server.url, transport: transport).table("T").read(id: "a")
            }
            #expect(error?.code == .unreadableResponse)
            #expect(error?.mayRetry == true)
        }
    }
}
