// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests. All network access of the framework goes through it.
///
/// ``URLSessionTransport`` is the default. Apps put middleware around a transport with ``intercepted(by:)``, and tests
/// answer from memory. Heads of requests and responses are those of the package swift-http-types.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns the whole response, whatever its status.
    ///
    /// The request is sent as it is, with every header field, or not at all. A redirect to another origin is returned
    /// and not followed. Cancelling the task ends the call promptly.
    ///
    /// - Throws: `CancellationError` when the task was cancelled; ``SyncError`` with code
    ///   ``SyncError/Code/invalidConfiguration`` when the URL is not allowed or ``SyncError/Code/invalidRequest`` when
    ///   a header field cannot be sent; ``HTTPBodyLimitExceeded`` when the response is too long; any other error for a
    ///   failed exchange. After the last two the server may or may not have executed the request.
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}

extension HTTPTransport {
    /// This transport behind middleware; the first sees requests first and responses last.
    public func intercepted(by middleware: any HTTPMiddleware...) -> some HTTPTransport {
        InterceptedTransport(base: self, middleware: middleware)
    }
}

/// A transport behind middleware.
private struct InterceptedTransport: HTTPTransport {
    let base: any HTTPTransport
    let middleware: [any HTTPMiddleware]

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await HTTPMiddlewareNext(base, behind: middleware[...])(request)
    }
}

/// The body of a response is longer than the transport accepts; the rest of it was not read.
public struct HTTPBodyLimitExceeded: Error, Sendable, Hashable {
    /// The status of the response.
    public let status: Int
    /// The greatest number of bytes accepted.
    public let limit: Int

    /// Makes the error.
    public init(status: Int, limit: Int) {
        self.status = status
        self.limit = limit
    }
}

extension Duration {
    /// The duration for timers, from zero to one day: long enough for any exchange, and far from overflow.
    package var timerNanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(86_400)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
