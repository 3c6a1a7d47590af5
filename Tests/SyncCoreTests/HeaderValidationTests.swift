// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

struct HeaderValidationTests {
    private static let invalidValues = [
        "CANARY\r\nb", "CANARY\nb", "CANARY\rb", "CANARY\u{0}b", "CANARY\r\n b", "CANARY\tb", "CANARY\u{7F}",
        "CANARYé", "\u{1F600}CANARY", " CANARY", "CANARY ",
    ]

    @Test(arguments: ["CANARY\tb", "CANARYé", "\u{1F600}CANARY"])
    func `the transport refuses an invalid header value and does not show it`(value: String) async throws {
        var head = HTTPRequest(method: .patch, url: try #require(URL(string: "http://127.0.0.1:1")))
        head.headerFields[.ifMatch] = value
        for error in try await errorsOfEachTransport(sending: HTTPTransportRequest(head)) {
            #expect(error.code == .invalidRequest)
            #expect(!String(reflecting: error).contains("CANARY"))
        }
    }

    @Test(arguments: invalidValues)
    func `the client refuses an invalid value of its own headers and does not show it`(value: String)
        async throws
    {
        let transport = ScriptedTransport(200)
        let url = try #require(URL(string: "https://example.com"))
        let withToken = SyncClient(url: url, transport: transport)
        withToken.authenticationToken = value
        let clients = [
            withToken,
            SyncClient(url: url, transport: transport, applicationKey: value),
            SyncClient(url: url, transport: transport, installationID: value),
            SyncClient(url: url, transport: transport, userAgent: value),
        ]
        for client in clients {
            let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
            #expect(error?.code == .invalidConfiguration)
            #expect(!String(reflecting: error).contains("CANARY"))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding", "Connection"])
    func `a request cannot set the headers that the transport sets`(name: String) async throws {
        var head = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1:1")))
        head.headerFields[try #require(HTTPField.Name(name))] = "5"
        for error in try await errorsOfEachTransport(sending: HTTPTransportRequest(head)) {
            #expect(error.code == .invalidRequest)
        }
    }

    @Test(arguments: [
        "http://example.com", "http://127.0.0.1.example.com", "http://localhost.example.com",
        "http://128.0.0.1", "ftp://localhost", "file:///etc/passwd", "http://127.1",
        "http://0127.0.0.1", "http://+127.0.0.1",
    ])
    func `plain HTTP to a remote host is refused`(url: String) async throws {
        let request = HTTPTransportRequest(HTTPRequest(url: try #require(URL(string: url))))
        for error in try await errorsOfEachTransport(sending: request) {
            #expect(error.code == .invalidConfiguration)
        }
    }

    @Test func `a user name in the authority is refused`() async throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "user@localhost", path: "/")
        for error in try await errorsOfEachTransport(sending: HTTPTransportRequest(head)) {
            #expect(error.code == .invalidConfiguration)
        }
    }
}
