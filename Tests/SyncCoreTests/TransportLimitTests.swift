// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

@Suite
struct TransportLimitTests {
    @Test func `a body of the greatest length is accepted and one byte more is not`() async throws {
        let full = String(repeating: "x", count: 1000)
        try await withRawHTTPServer(maxBodyBytes: 1000) { request in
            [.answer("200 OK", body: request.lines[0].contains("long") ? full + "x" : full)]
        } _: { server, transport in
            let fits = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(fits.body.count == 1000)
            let long = HTTPTransportRequest(HTTPRequest(url: server.url.appending(path: "long")))
            let error = await #expect(throws: HTTPBodyLimitExceeded.self) { try await transport.send(long) }
            #expect(error == HTTPBodyLimitExceeded(status: 200, limit: 1000))
        }
    }

    @Test func `an endless body is hung up on`() async throws {
        try await withRawHTTPServer(maxBodyBytes: 100_000) { _ in
            let chunk = RawHTTPServer.Step.send("8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n")
            return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
                + Array(repeating: chunk, count: 8) + [.waitForHangUp]
        } _: { server, transport in
            await #expect(throws: HTTPBodyLimitExceeded.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            await server.wait(for: .hangUp)
        }
    }

    @Test func `the limit counts decompressed bytes`() async throws {
        // One hundred thousand zero bytes, compressed with gzip to 132.
        let gzip = try #require(
            Data(
                base64Encoded:
                    "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
            ))
        try await withRawHTTPServer(maxBodyBytes: 50_000) { _ in
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

    @Test func `a server that stays silent is given up after the idle timeout`() async throws {
        try await withRawHTTPServer(idleTimeout: .milliseconds(100)) { _ in
            [.waitForHangUp]
        } _: {
            server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.message.contains("in time") == true)
        }
    }

    @Test func `silence is given up every time, of exchanges beside each other and after each other`()
        async throws
    {
        try await withRawHTTPServer(idleTimeout: .milliseconds(100)) { _ in
            [.waitForHangUp]
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

    @Test func `a server that drips is given up after the total timeout`() async throws {
        try await withRawHTTPServer(idleTimeout: .seconds(3600), totalTimeout: .milliseconds(200)) { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), .send("x"), .waitForHangUp]
        } _: { server, transport in
            let error = await #expect(throws: SyncError.self) {
                try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            }
            #expect(error?.code == .networkUnavailable)
        }
    }

    @Test func `cancelling a request ends it at once and hangs up`() async throws {
        try await withRawHTTPServer { _ in
            [.waitForHangUp]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await server.wait(for: .hangUp)
        }
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        try await withRawHTTPServer { _ in
            [.answer("200 OK")]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.send(request)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `cancelling at any moment does no harm`() async throws {
        let body = String(repeating: "x", count: 200_000)
        try await withRawHTTPServer(maxBodyBytes: 1 << 20) { _ in
            [.answer("200 OK", body: body), .keepOpen]
        } _: {
            server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            for yields in 0..<150 {
                let task = Task { try await transport.send(request) }
                for _ in 0..<(yields * 7 % 97) { await Task.yield() }
                task.cancel()
                do {
                    let response = try await task.value
                    #expect(response.body.count == body.count)
                } catch { #expect(error is CancellationError) }
            }
            let last = try await transport.send(request)
            #expect(last.body.count == body.count)
        }
    }

    @Test func `many requests at once are all answered with their own bodies`() async throws {
        try await withRawHTTPServer { request in
            [.answer("200 OK", body: request.lines[0]), .keepOpen]
        } _: {
            server, transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    let url = server.url.appending(path: "\(number)")
                    group.addTask {
                        let response = try await transport.send(
                            HTTPTransportRequest(HTTPRequest(url: url)))
                        #expect(response.body == Data("GET /\(number) HTTP/1.1".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.requests.count == 100)
        }
    }

    @Test func `closing ends what is under way and refuses what comes later`() async throws {
        try await withRawHTTPServer { _ in
            [.waitForHangUp]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            transport.close()
            transport.close()
            let ended = await #expect(throws: SyncError.self) { try await task.value }
            #expect(ended?.code == .networkUnavailable)
            #expect(ended?.message == "The transport was closed.")
            let refused = await #expect(throws: SyncError.self) { try await transport.send(request) }
            #expect(refused?.code == .networkUnavailable)
            #expect(server.requests.count == 1)
        }
    }
}
