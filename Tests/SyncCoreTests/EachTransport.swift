// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import SyncCore
import Testing

/// A transport that a test closes.
protocol ClosableTransport: HTTPTransport {
    func close()
}

extension URLSessionTransport: ClosableTransport {}
extension AsyncHTTPTransport: ClosableTransport {}

/// Runs the body once for each transport, with a new server each time, and closes both afterwards.
///
/// The default time limits are too long to be reached on a busy machine.
func withEachTransport(
    maxBodyBytes: Int = 1 << 20, idleTimeout: Duration = .seconds(3600),
    totalTimeout: Duration = .seconds(3600), greeting: [UInt8] = [],
    respond: @escaping @Sendable (RawHTTPServer.Request) -> [RawHTTPServer.Step],
    _ body: (RawHTTPServer, any ClosableTransport) async throws -> Void
) async throws {
    let transports: [any ClosableTransport] = [
        URLSessionTransport(
            idleTimeout: idleTimeout, totalTimeout: totalTimeout, maxBodyBytes: maxBodyBytes),
        AsyncHTTPTransport(
            idleTimeout: idleTimeout, totalTimeout: totalTimeout, maxBodyBytes: maxBodyBytes),
    ]
    defer { for transport in transports { transport.close() } }
    for transport in transports {
        let server = try RawHTTPServer(greeting: greeting, respond: respond)
        defer { server.stop() }
        do { try await body(server, transport) } catch {
            Issue.record(error, "with \(type(of: transport))")
        }
    }
}

/// Returns the error that each transport throws for the request.
func errorsOfEachTransport(
    sending request: HTTPTransportRequest, allowsInsecureHTTP: Bool = false
) async throws -> [SyncError] {
    let transports: [any ClosableTransport] = [
        URLSessionTransport(allowsInsecureHTTP: allowsInsecureHTTP),
        AsyncHTTPTransport(allowsInsecureHTTP: allowsInsecureHTTP),
    ]
    var errors: [SyncError] = []
    for transport in transports {
        defer { transport.close() }
        let error = await #expect(throws: SyncError.self) { try await transport.send(request) }
        errors.append(try #require(error))
    }
    return errors
}
