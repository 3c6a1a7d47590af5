// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A transport that answers from memory and remembers what it was asked.
final class ScriptedTransport: HTTPTransport {
    private let answer: @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse
    private let log = Mutex<[HTTPTransportRequest]>([])

    init(_ answer: @escaping @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse) {
        self.answer = answer
    }

    /// Answers the same to every request.
    convenience init(_ status: Int, headers: HTTPFields = [:], _ body: String = "") {
        let status = HTTPResponse.Status(code: status)
        self.init { _ in HTTPTransportResponse(status: status, headerFields: headers, body: Data(body.utf8)) }
    }

    /// The requests so far, oldest first.
    var requests: [HTTPTransportRequest] { log.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        log.withLock { $0.append(request) }
        return try await answer(request)
    }
}

extension SyncClient {
    /// A client of `https://example.com/api` over that transport.
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
