// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport
import Testing

/// The limits of body length and duration, for each transport.
@Suite
struct TransportLimitTests {
    @Test func `a body of the maximum length is accepted, and one byte more is refused`() async throws {
        let full = String(repeating: "x", count: 1000)
        try await withEachTransport(maxBodyBytes: 1000) { request in
            [.response("200 OK", body: request.lines[0].contains("long") ? full + "x" : full)]
        } _: { server, transport in
            let accepted = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(accepted.body.count == 1000)
            let long = HTTPTransportRequest(HTTPRequest(url: server.url.appending(path: "long")))
            let error = await #expect(throws: HTTPBodyLimitExceeded.self) { try await transport.send(long) }
            #expect(error == HTTPBodyLimitExceeded(status: 200, limit: 1000))
        }
    }

    @Test func `the transport closes the connection of a body beyond the limit`() async throws {
        try await withEachTransport(maxBodyBytes: 100_000) { _ in
            let chunk = RawHTTPServer.Step.send("8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n")
            return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
                + Array(repeating: chunk, count: 8) + [.waitForDisconnect]
        } _: { server, transport in
            await #expect(throws: HTTPBodyLimitExceeded.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            await server.wait(for: .disconnect)
        }
    }

    @Test func `the limit counts decompressed bytes`() async throws {
        // 100,000 zero bytes, compressed with gzip to 132 bytes.
        let gzip = try #require(
            Data(
                base64Encoded:
                    "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
            ))
        try await withEachTransport(maxBodyBytes: 50_000) { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n"),
                .sendBytes(Array(gzip)),
            ]
        } _: { server, transport in
            await #expect(throws: HTTPBodyLimitExceeded.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
        }
    }

    @Test func `a request to a silent server fails after the idle timeout`() async throws {
        try await withEachTransport(idleTimeout: .milliseconds(100)) { _ in
            [.waitForDisconnect]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.message.contains("in time") == true)
        }
    }

    @Test func `an upload that the server does not read fails after the idle timeout`() async throws {
        let socket = try LoopbackSocket()
        let file = FileHandle(fileDescriptor: socket.descriptor, closeOnDealloc: true)
        defer { try? file.close() }
        // The system accepts the connection.
        try socket.listen()
        let url = try #require(URL(string: "http://127.0.0.1:\(socket.port)"))
        try await withEachTransport(idleTimeout: .milliseconds(200)) { _ in
            []
        } _: { _, transport in
            let head = HTTPRequest(method: .post, url: url)
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(head, body: Data(count: 64 << 20)))
            }
            #expect(error?.message.contains("in time") == true)
        }
    }

    @Test func `a body of several parts arrives as it was`() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await withEachTransport { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        } _: { server, transport in
            // A slice does not begin at index 0.
            for bytes in [body, body.dropFirst(100)] {
                let head = HTTPRequest(method: .post, url: server.url)
                _ = try await transport.send(HTTPTransportRequest(head, body: bytes))
                #expect(server.requests.last.map { Data($0.body) == Data(bytes) } == true)
            }
        }
    }

    @Test func `the idle timeout ends concurrent and successive requests`()
        async throws
    {
        try await withEachTransport(idleTimeout: .milliseconds(100)) { _ in
            [.waitForDisconnect]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            for count in 1...3 {
                await withTaskGroup { group in
                    for _ in 0..<count {
                        group.addTask {
                            let error = await #expect(throws: SyncError.self) {
                                try await transport.send(request)
                            }
                            #expect(error?.message.contains("in time") == true)
                        }
                    }
                }
            }
        }
    }

    @Test func `a response that does not end fails after the total timeout`() async throws {
        try await withEachTransport(idleTimeout: .seconds(3600), totalTimeout: .milliseconds(200)) { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), .send("x"), .waitForDisconnect]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
        }
    }
}
