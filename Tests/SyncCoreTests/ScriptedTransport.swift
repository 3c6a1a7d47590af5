// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import StoreMemory
import SyncCore
import Synchronization

/// A transport that returns the responses of a closure and records the requests.
final class ScriptedTransport: HTTPTransport {
    private let respond: @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse
    private let recorded = Mutex<[HTTPTransportRequest]>([])

    init(_ respond: @escaping @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse) {
        self.respond = respond
    }

    /// Returns the same response to every request.
    convenience init(_ status: Int, headers: HTTPFields = [:], _ body: String = "") {
        let status = HTTPResponse.Status(code: status)
        self.init { _ in HTTPTransportResponse(status: status, headerFields: headers, body: Data(body.utf8)) }
    }

    /// The recorded requests, oldest first.
    var requests: [HTTPTransportRequest] { recorded.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        recorded.withLock { $0.append(request) }
        return try await respond(request)
    }
}

extension SyncClient {
    /// Returns a client of `https://example.com/api` that uses the transport.
    static func scripted(
        _ transport: any HTTPTransport, dialect: WireDialect = .v2, url: String = "https://example.com/api",
        refresh: (@Sendable () async throws -> String?)? = nil
    ) throws -> SyncClient {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        return SyncClient(
            url: url, transport: transport, dialect: dialect, installationID: "installation",
            refreshAuthentication: refresh)
    }
}

extension SyncContext {
    /// Returns a context with an empty table `T` in memory, whose clock the test sets.
    static func scripted(
        _ transport: any HTTPTransport, now: @escaping @Sendable () -> Timestamp
    ) throws -> SyncContext {
        var environment = SyncEnvironment.inline
        environment.now = now
        return SyncContext(
            client: try SyncClient.scripted(transport),
            dataSource: try MemoryStore(tables: [SyncTableDefinition("T", columns: [])]),
            environment: environment)
    }
}
