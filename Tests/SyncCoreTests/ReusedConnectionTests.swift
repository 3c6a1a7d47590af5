// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import Testing

struct ReusedConnectionTests {
    /// Responds to every request except the first write of the first connection, which it closes.
    private static func closeFirstConnection(_ request: RawHTTPServer.Request) -> [RawHTTPServer.Step] {
        switch (request.connection, request.lines[0].hasPrefix("GET")) {
        case (1, false): []
        case (_, true): [.response("200 OK", body: "x"), .keepOpen]
        default: [.response("201 Created", body: "y"), .keepOpen]
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, .put], [2, 300_000])
    func `a write over a closed reused connection ends, and each attempt sends the whole body`(
        method: HTTPRequest.Method, size: Int
    ) async throws {
        // The timeouts are long, so that a stalled request hangs the test instead of passing it.
        try await withEachTransport(
            idleTimeout: .seconds(86_400), totalTimeout: .seconds(86_400), respond: Self.closeFirstConnection
        ) { server, transport in
            _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            let body = Data(repeating: UInt8(ascii: "a"), count: size)
            let request = HTTPTransportRequest(HTTPRequest(method: method, url: server.url), body: body)
            do {
                let response = try await transport.send(request)
                #expect(response.head.status == 201)
            } catch let error as SyncError {
                #expect((error.cause as? NetworkFailure)?.reason == .connectionLost)
            }
            let writes = server.requests.dropFirst()
            #expect(!writes.isEmpty)
            for write in writes {
                #expect(write.body == Array(body))
                #expect(write.header("Content-Length") == "\(size)")
                #expect(write.header("Transfer-Encoding") == nil)
            }
        }
    }

    /// URLSession sends such a write again, over a new connection, which is refused.
    @Test(arguments: [2, 300_000])
    func `a write that was sent before the server ended may have been received`(size: Int) async throws {
        let server = RunningServer()
        try await withEachTransport(
            idleTimeout: .seconds(86_400), totalTimeout: .seconds(86_400),
            respond: { request in
                guard !request.lines[0].hasPrefix("GET") else {
                    return [.response("200 OK", body: "x"), .keepOpen]
                }
                server.value.withLock { $0?.stop() }
                return []
            }
        ) { running, transport in
            server.value.withLock { $0 = running }
            _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: running.url)))
            let body = Data(repeating: UInt8(ascii: "a"), count: size)
            let request = HTTPTransportRequest(HTTPRequest(method: .patch, url: running.url), body: body)
            let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
            #expect((error?.cause as? NetworkFailure)?.reason == .connectionLost)
        }
    }

    private final class RunningServer: Sendable {
        let value = Mutex<RawHTTPServer?>(nil)
    }

    @Test(arguments: [HTTPRequest.Method.delete, .post])
    func `a write without a body over a closed reused connection ends`(
        method: HTTPRequest.Method
    ) async throws {
        try await withEachTransport(
            idleTimeout: .seconds(86_400), totalTimeout: .seconds(86_400), respond: Self.closeFirstConnection
        ) { server, transport in
            _ = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            let request = HTTPTransportRequest(HTTPRequest(method: method, url: server.url))
            do {
                _ = try await transport.send(request)
            } catch let error as SyncError {
                #expect((error.cause as? NetworkFailure)?.reason == .connectionLost)
            }
            #expect(server.requests.dropFirst().allSatisfy { $0.body.isEmpty })
        }
    }
}
