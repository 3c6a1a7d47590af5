// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

/// Concurrent requests, cancellation and closing of each transport.
@Suite
struct TransportLifecycleTests {
    @Test func `cancelling a request throws and closes its connection`() async throws {
        try await withEachTransport { _ in
            [.waitForDisconnect]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await server.wait(for: .disconnect)
        }
    }

    @Test func `a cancelled task sends nothing`() async throws {
        try await withEachTransport { _ in
            [.response("200 OK")]
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

    @Test func `a request that is cancelled at any moment throws a cancellation or returns the whole body`()
        async throws
    {
        let pieceLength = 1300
        let pieceCount = 150
        let body = String(repeating: "x", count: pieceCount * pieceLength)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try await withEachTransport { request in
            // The path is the number of body pieces that the server sends before it signals the test.
            let count = Int(request.lines[0].split(separator: " ")[1].dropFirst()) ?? 0
            let (first, rest) = (body.prefix(count * pieceLength), body.dropFirst(count * pieceLength))
            return [.send(head + String(first)), .signal(count), .send(String(rest)), .keepOpen]
        } _: { server, transport in
            for count in 0..<pieceCount {
                let request = HTTPTransportRequest(
                    HTTPRequest(url: server.url.appending(path: "\(count)")))
                let task = Task { try await transport.send(request) }
                if count > 0 { await server.wait(for: .signal(count)) }
                task.cancel()
                do {
                    let response = try await task.value
                    #expect(response.body.count == body.utf8.count)
                } catch { #expect(error is CancellationError) }
            }
            let last = try await transport.send(HTTPTransportRequest(HTTPRequest(url: server.url)))
            #expect(last.body.count == body.utf8.count)
        }
    }

    @Test func `concurrent requests each return their own response`() async throws {
        try await withEachTransport { request in
            [.response("200 OK", body: request.lines[0]), .keepOpen]
        } _: { server, transport in
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

    @Test func `closing a transport fails its running requests and all later ones`() async throws {
        try await withEachTransport { _ in
            [.waitForDisconnect]
        } _: { server, transport in
            let request = HTTPTransportRequest(HTTPRequest(url: server.url))
            let task = Task { try await transport.send(request) }
            await server.wait(for: .request)
            transport.close()
            transport.close()
            let error = await #expect(throws: SyncError.self) { try await task.value }
            #expect(error?.code == .networkUnavailable)
            #expect(error?.message == "The transport was closed.")
            let laterError = await #expect(throws: SyncError.self) { try await transport.send(request) }
            #expect(laterError?.code == .networkUnavailable)
            #expect(server.requests.count == 1)
        }
    }
}
