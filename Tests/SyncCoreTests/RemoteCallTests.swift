// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

struct RemoteCallTests {
    private func request(
        for call: RemoteCall, dialect: WireDialect = .v2, url: String = "https://example.com/api"
    ) async throws -> HTTPTransportRequest {
        let transport = ScriptedTransport(200)
        _ = try await SyncClient.scripted(transport, dialect: dialect, url: url).send(call)
        return try #require(transport.requests.first)
    }

    private func body(_ request: HTTPTransportRequest) throws -> String {
        String(decoding: try #require(request.body), as: UTF8.self)
    }

    @Test func `an insert is a POST of the fields and the id`() async throws {
        let request = try await request(
            for: RemoteCall(.insert(id: "a", fields: ["text": "Milk", "done": false]), table: "TodoItem"))
        #expect(request.head.method == .post)
        #expect(request.head.url?.absoluteString == "https://example.com/api/tables/TodoItem")
        #expect(try body(request) == #"{"done":false,"id":"a","text":"Milk"}"#)
        #expect(request.head.headerFields[.contentType] == "application/json")
        #expect(request.head.headerFields[.ifMatch] == nil)
    }

    @Test func `an insert without an id lets the server choose it`() async throws {
        let request = try await request(for: RemoteCall(.insert(id: nil, fields: [:]), table: "T"))
        #expect(try body(request) == "{}")
    }

    @Test func `an update is a PATCH with the version in If-Match`() async throws {
        let request = try await request(
            for: RemoteCall(.update(id: "a b'ü", fields: ["n": 1], version: #"x"y"#), table: "T"))
        #expect(request.head.method == .patch)
        #expect(request.head.url?.absoluteString == "https://example.com/api/tables/T/a%20b%27%C3%BC")
        #expect(request.head.headerFields[.ifMatch] == #""x\"y""#)
        #expect(try body(request) == #"{"id":"a b'ü","n":1}"#)
    }

    @Test func `a delete has neither body nor content type`() async throws {
        let request = try await request(for: RemoteCall(.delete(id: "a", version: "1"), table: "T"))
        #expect(request.head.method == .delete)
        #expect(request.body == nil)
        #expect(request.head.headerFields[.contentType] == nil)
        #expect(request.head.headerFields[.ifMatch] == "\"1\"")
    }

    @Test func `an undelete is a POST to the row, and in v3 a PUT of the whole row`() async throws {
        let call = RemoteCall(.undelete(id: "a", fields: ["n": 1], version: "1"), table: "T")
        let v2 = try await request(for: call)
        #expect(v2.head.method == .post)
        #expect(v2.head.url?.absoluteString == "https://example.com/api/tables/T/a")
        #expect(v2.body == nil)
        let v3 = try await request(for: call, dialect: .v3)
        #expect(v3.head.method == .put)
        #expect(v3.head.url?.absoluteString == "https://example.com/api/tables/T/a?__includedeleted=true")
        #expect(try body(v3) == #"{"id":"a","n":1}"#)
    }

    @Test
    func `a query's parameters are its options, the flag for deleted rows, and the user's`()
        async throws
    {
        let options = [QueryParameter(name: "$filter", value: "a eq 'b&c=d+e'")]
        let request = try await request(
            for: RemoteCall(
                .query(options, includesDeleted: true), table: "T", parameters: ["z": "ä", "a b": "1/2"],
                features: [.offline, .incrementalPull]))
        #expect(request.head.method == .get)
        #expect(
            request.head.url?.absoluteString
                == "https://example.com/api/tables/T?$filter=a%20eq%20%27b%26c%3Dd%2Be%27"
                + "&__includeDeleted=true&a%20b=1%2F2&z=%C3%A4")
        #expect(request.head.headerFields[.zumoFeatures] == "OL,IP")
    }

    @Test func `every request has the common headers`() async throws {
        let transport = ScriptedTransport(200, "{}")
        let client = SyncClient(
            url: try #require(URL(string: "https://example.com")), transport: transport,
            applicationKey: "key", installationID: "me", userAgent: "tests")
        client.authenticationToken = "token"
        _ = try await client.send(RemoteCall(.read(id: "a"), table: "T", features: .offline))
        let headers = try #require(transport.requests.first).head.headerFields
        #expect(headers[.zumoAPIVersion] == "2.0.0")
        #expect(headers[.zumoInstallationID] == "me")
        #expect(headers[.zumoFeatures] == "OL")
        #expect(headers[.zumoApplication] == "key")
        #expect(headers[.zumoAuth] == "token")
        #expect(headers[.userAgent] == "tests")
        #expect(headers[.accept] == "application/json")
    }

    @Test func `v1 requests the system properties and has no version header`() async throws {
        let request = try await request(for: RemoteCall(.read(id: "a"), table: "T"), dialect: .v1)
        #expect(
            request.head.url?.absoluteString == "https://example.com/api/tables/T/a?__systemproperties=%2A")
        #expect(request.head.headerFields[.zumoAPIVersion] == nil)
    }

    @Test(arguments: [
        "https://example.com", "https://example.com/", "https://example.com//", "HTTPS://example.com",
    ])
    func `trailing slashes of the client's URL are ignored`(url: String) async throws {
        let request = try await request(for: RemoteCall(.read(id: "a"), table: "T"), url: url)
        #expect(request.head.url?.absoluteString.lowercased() == "https://example.com/tables/t/a")
    }

    @Test(arguments: ["https://example.com/api", "https://example.com/api/"])
    func `the client's URL may have a path`(url: String) async throws {
        let request = try await request(for: RemoteCall(.read(id: "a"), table: "T"), url: url)
        #expect(request.head.url?.absoluteString == "https://example.com/api/tables/T/a")
    }

    @Test(arguments: [
        "ftp://example.com", "/tables", "https://", "https://u:p@example.com", "https://example.com?a=b",
        "https://example.com#a", "file:///etc/passwd",
    ])
    func `an invalid client URL fails the first call`(url: String) async throws {
        let transport = ScriptedTransport(200)
        let error = await #expect(throws: SyncError.self) {
            try await SyncClient.scripted(transport, url: url).send(
                RemoteCall(.read(id: "a"), table: "T"))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [
        (RemoteCall(.read(id: ""), table: "T"), SyncError.Code.invalidItemID),
        (RemoteCall(.read(id: ".."), table: "T"), .invalidItemID),
        (RemoteCall(.delete(id: "a/../b", version: nil), table: "T"), .invalidItemID),
        (RemoteCall(.insert(id: "a\u{0}", fields: [:]), table: "T"), .invalidItemID),
        (RemoteCall(.read(id: "a"), table: ""), .missingTableName),
        (RemoteCall(.read(id: "a"), table: ".."), .invalidRequest),
        (RemoteCall(.update(id: "a", fields: [:], version: "é"), table: "T"), .invalidRequest),
        (RemoteCall(.update(id: "a", fields: [:], version: "1\r\nX: y"), table: "T"), .invalidRequest),
        (RemoteCall(.delete(id: "a", version: ""), table: "T"), .invalidRequest),
        (RemoteCall(.insert(id: nil, fields: ["version": "1"]), table: "T"), .invalidItem),
        (RemoteCall(.insert(id: nil, fields: ["id": "b"]), table: "T"), .invalidItem),
        (RemoteCall(.insert(id: nil, fields: ["n": [.double(.nan)]]), table: "T"), .invalidItem),
        (RemoteCall(.read(id: "a"), table: "T", parameters: ["$top": "1"]), .invalidUserParameter),
        (RemoteCall(.read(id: "a"), table: "T", parameters: ["$\u{301}": "1"]), .invalidUserParameter),
        (RemoteCall(.read(id: "a"), table: "T", parameters: ["": "1"]), .invalidUserParameter),
        (
            RemoteCall(.read(id: "a"), table: "T", parameters: ["__INCLUDEDELETED": "1"]),
            .invalidUserParameter
        ),
    ])
    func `an invalid request is not sent`(call: RemoteCall, code: SyncError.Code) async throws {
        let transport = ScriptedTransport(200)
        let error = await #expect(throws: SyncError.self) {
            try await SyncClient.scripted(transport).send(call)
        }
        #expect(error?.code == code)
        #expect(error?.mayRetry == false)
        #expect(transport.requests.isEmpty)
    }

    /// A list contains rows in an array, which can be in an object.
    @Test func `fields nested deeper than a list of rows can show are refused`() async throws {
        func nested(_ depth: Int) -> ItemValue {
            (1..<depth).reduce(ItemValue.array([])) { value, _ in .array([value]) }
        }
        let transport = ScriptedTransport(200, "{}")
        let client = try SyncClient.scripted(transport)
        _ = try await client.send(RemoteCall(.insert(id: nil, fields: ["n": nested(97)]), table: "T"))
        let sent = try #require(transport.requests.first?.body)
        #expect(try ItemValue(json: sent) == .object(["n": nested(97)]))
        let error = await #expect(throws: SyncError.self) {
            try await client.send(RemoteCall(.insert(id: nil, fields: ["n": nested(98)]), table: "T"))
        }
        #expect(error?.code == .invalidItem)
    }

    @Test func `a token that is not a valid header value is refused and not shown`() async throws {
        let transport = ScriptedTransport(200)
        let client = try SyncClient.scripted(transport)
        client.authenticationToken = "CANARY\r\nIf-Match: *"
        let error = await #expect(throws: SyncError.self) {
            try await client.send(RemoteCall(.read(id: "a"), table: "T"))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(!"\(String(reflecting: error))".contains("CANARY"))
        #expect(transport.requests.isEmpty)
    }
}
