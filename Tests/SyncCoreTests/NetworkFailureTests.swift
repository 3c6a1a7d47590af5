// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct NetworkFailureTests {
    private func errors(getting url: String) async throws -> [SyncError] {
        let request = HTTPTransportRequest(HTTPRequest(url: try #require(URL(string: url))))
        return try await errorsOfEachTransport(sending: request, allowsInsecureHTTP: true)
    }

    private func expect(
        _ error: SyncError?, is reason: NetworkFailure.Reason, at server: String, mayRetry: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.code == .networkUnavailable, sourceLocation: sourceLocation)
        let failure = error?.cause as? NetworkFailure
        #expect(
            failure?.reason == reason, "\(String(describing: failure?.cause))", sourceLocation: sourceLocation
        )
        #expect(failure.map { "\($0.host):\($0.port)" } == server, sourceLocation: sourceLocation)
        for part in server.split(separator: ":") {
            #expect(error?.message.contains(part) == true, sourceLocation: sourceLocation)
        }
        #expect(error?.mayRetry == mayRetry, sourceLocation: sourceLocation)
        #expect(error?.isOffline == mayRetry, sourceLocation: sourceLocation)
    }

    @Test func `an unknown host is named in the error`() async throws {
        for error in try await errors(getting: "http://no-such-host.invalid:8080/") {
            expect(error, is: .unknownHost, at: "no-such-host.invalid:8080")
        }
    }

    @Test(arguments: ["http://127.0.0.1:65536/", "http://[::1]:70000/", "https://127.0.0.1:99999/"])
    func `a port that does not exist is refused before the request`(url: String) async throws {
        let errors = try await errors(getting: url)
        #expect(errors.map(\.code) == errors.map { _ in .invalidConfiguration })
        #expect(errors.allSatisfy { $0.message.contains("65535") })
        #expect(!errors.isEmpty)
    }

    @Test func `a refused connection is reported with host and port`() async throws {
        let port = try RefusingPort()
        for error in try await errors(getting: "http://127.0.0.1:\(port.number)/") {
            expect(error, is: .connectionRefused, at: "127.0.0.1:\(port.number)")
        }
    }

    @Test func `the text of a refused connection is sentences without the library's own error`()
        async throws
    {
        let port = try RefusingPort()
        let server = "127.0.0.1:\(port.number)"
        for error in try await errors(getting: "http://\(server)/") {
            #expect(
                "\(error)" == """
                    The server \(server) refused the connection. Try again later. (networkUnavailable, code -2006) \
                    Cause: The request to \(server) failed: connectionRefused.
                    """)
        }
    }

    @Test func `a failure that the reason does not explain has the library's error in its text`() {
        let failures = [
            NetworkFailure(.other, host: "h", port: 1, cause: URLError(.resourceUnavailable)),
            NetworkFailure(.other, host: "h", port: 1, cause: CancellationError()),
        ]
        #expect(
            failures.map(\.description) == [
                "The request to h:1 failed: other. URLSession reported error -1008.",
                "The request to h:1 failed: other. Cause: CancellationError()",
            ])
    }

    @Test func `a port without TLS is a secure connection failure that may not be retried`()
        async throws
    {
        try await withEachTransport(greeting: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) { _ in
            []
        } _: { server, transport in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: url)))
            }
            expect(error, is: .secureConnectionFailed, at: "127.0.0.1:\(server.port)", mayRetry: false)
        }
    }

    @Test func `a server that sends nothing is a timeout`() async throws {
        try await withEachTransport(idleTimeout: .milliseconds(100)) { _ in
            [.waitForDisconnect]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            expect(error, is: .timedOut, at: "127.0.0.1:\(server.port)")
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "", "nonsense\r\n\r\n"])
    func `a response that is cut off is a lost connection`(bytes: String) async throws {
        try await withEachTransport { _ in
            [.send(bytes)]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(method: .post, url: server.url)))
            }
            expect(error, is: .connectionLost, at: "127.0.0.1:\(server.port)")
        }
    }

    @Test func `the error of a closed transport is not offline`() async throws {
        try await withEachTransport { _ in
            []
        } _: { server, transport in
            transport.close()
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            let failure = error?.cause as? NetworkFailure
            #expect(failure?.reason == .transportClosed)
            #expect(error?.isOffline == false)
        }
    }

    @Test func `an app's transport may throw a network failure or any other error`() async throws {
        struct Other: Error {}
        let errors: [any Error] = [NetworkFailure(.unknownHost, host: "h", port: 1), Other()]
        for (thrown, reason) in zip(errors, [NetworkFailure.Reason.unknownHost, .other]) {
            let client = try SyncClient.scripted(ScriptedTransport { _ in throw thrown })
            let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
            #expect(error?.code == .networkUnavailable)
            #expect((error?.cause as? NetworkFailure)?.reason == reason)
            #expect(error?.isOffline == true)
        }
    }
}
