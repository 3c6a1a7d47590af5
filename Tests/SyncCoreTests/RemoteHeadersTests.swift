// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

struct RemoteHeadersTests {
    @Test func `names are found whatever the case, and repeated values are joined`() {
        var headers: HTTPTransportHeaders = ["Accept": "a", "X-One": "1"]
        headers.append("accept", "b")
        #expect(headers["ACCEPT"] == "a, b")
        headers["aCCept"] = "c"
        #expect(headers.fields.map(\.name) == ["aCCept", "X-One"])
        headers["x-one"] = nil
        #expect(headers.fields.map(\.value) == ["c"])
        #expect(headers["X-One"] == nil)
    }

    @Test(arguments: [
        "CANARY\r\nb", "CANARY\nb", "CANARY\rb", "CANARY\u{0}b", "CANARY\r\n b", "CANARY\tb", "CANARY\u{7F}",
        "CANARYé", "\u{1F600}CANARY", " CANARY", "CANARY ",
    ])
    func `a value that would not arrive is refused by the transport and not shown`(value: String) async throws
    {
        let transport = URLSessionTransport()
        defer { transport.close() }
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let request = HTTPTransportRequest(method: "PATCH", url: url, headers: ["If-Match": value])
        let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        #expect(error?.code == .invalidRequest)
        #expect(!String(reflecting: error).contains("CANARY"))
    }

    @Test(arguments: ["", "a b", "a:b", "é", "a\r\nb", "(a)"])
    func `a name that is no token is refused`(name: String) {
        #expect(throws: SyncError.self) {
            try HTTPTransportHeaders([.init(name: name, value: "v")]).validate()
        }
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding", "Connection"])
    func `headers of the transport's own cannot be set`(name: String) async throws {
        let transport = URLSessionTransport()
        defer { transport.close() }
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let request = HTTPTransportRequest(method: "GET", url: url, headers: [name: "5"])
        let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: [
        "http://example.com", "http://127.0.0.1.example.com", "http://localhost.example.com",
        "http://128.0.0.1",
        "ftp://localhost", "file:///etc/passwd", "http://user@localhost", "http://127.1",
    ])
    func `plain HTTP to another machine is refused`(url: String) async throws {
        let transport = URLSessionTransport()
        defer { transport.close() }
        let request = HTTPTransportRequest(method: "GET", url: try #require(URL(string: url)))
        let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["X-ZUMO-AUTH", "Authorization", "x-zumo-application", "Cookie", "Api-Key"])
    func `descriptions and dumps hide credentials`(name: String) throws {
        let url = try #require(URL(string: "https://example.com"))
        let request = HTTPTransportRequest(
            method: "GET", url: url, headers: [name: "CANARY", "Accept": "seen"])
        var dumped = ""
        dump(request, to: &dumped)
        for text in ["\(request)", String(reflecting: request), "\(request.headers)", dumped] {
            #expect(!text.contains("CANARY"))
            #expect(text.contains("seen"))
        }
    }

    @Test func `a client's dump hides its token and key`() throws {
        let url = try #require(URL(string: "https://example.com"))
        let client = SyncClient(
            url: url, transport: RemoteScriptedTransport(200), applicationKey: "CANARY-key")
        client.authenticationToken = "CANARY-token"
        var dumped = ""
        dump(client, to: &dumped)
        #expect(!dumped.contains("CANARY"))
        #expect(!"\(client)".contains("CANARY"))
        #expect(dumped.contains("example.com"))
    }
}
