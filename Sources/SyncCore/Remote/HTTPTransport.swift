// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests: the one way out of the framework.
///
/// ``URLSessionTransport`` is the usual one. Apps put middleware around it with ``intercepted(by:)``, and tests
/// answer from memory.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns the whole answer, whatever its status.
    ///
    /// The request is sent as it is, every header included, or not at all. A redirect to another origin is returned
    /// and not followed. Cancelling the task ends the call promptly.
    ///
    /// - Throws: `CancellationError` when the task was cancelled; ``SyncError`` with code
    ///   ``SyncError/Code/invalidRequest`` when the request cannot be sent; ``HTTPBodyLimitExceeded`` when the
    ///   answer is too long; any other error for a failed exchange. After the last two the server may or may not
    ///   have acted on the request.
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}

/// Sees every request on its way out and every answer on its way back: for logging, headers, retries.
public protocol HTTPMiddleware: Sendable {
    /// Passes the request to `next`, changed or not, and returns the answer, changed or not.
    ///
    /// It may call `next` several times, but a write that is sent again may be applied twice unless it has an
    /// `If-Match` header; and it may answer without calling `next`.
    func intercept(
        _ request: HTTPTransportRequest,
        next: @Sendable (HTTPTransportRequest) async throws -> HTTPTransportResponse
    ) async throws -> HTTPTransportResponse
}

extension HTTPTransport {
    /// This transport behind middleware; the first sees requests first and answers last.
    public func intercepted(by middleware: any HTTPMiddleware...) -> some HTTPTransport {
        InterceptedTransport(base: self, middleware: middleware)
    }
}

/// A transport behind middleware.
private struct InterceptedTransport: HTTPTransport {
    let base: any HTTPTransport
    let middleware: [any HTTPMiddleware]

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await send(request, from: 0)
    }

    private func send(_ request: HTTPTransportRequest, from index: Int) async throws -> HTTPTransportResponse
    {
        guard index < middleware.count else { return try await base.send(request) }
        return try await middleware[index].intercept(request) { request in
            try await send(request, from: index + 1)
        }
    }
}

/// The answer's body is longer than the transport accepts; the rest of it was not read.
public struct HTTPBodyLimitExceeded: Error, Sendable, Hashable {
    /// The answer's status.
    public let status: Int
    /// The greatest number of bytes accepted.
    public let limit: Int

    /// Makes the error.
    public init(status: Int, limit: Int) {
        self.status = status
        self.limit = limit
    }
}

extension SyncError {
    /// The failure of an exchange after which the server may or may not have acted.
    package static func exchangeFailed(hasTimedOut: Bool = false, cause: any Error) -> SyncError {
        SyncError(
            .networkUnavailable,
            hasTimedOut
                ? "The server did not answer in time."
                : "The server cannot be reached, or its answer did not arrive whole.",
            cause: cause, mayRetry: true)
    }

    /// What a transport says to requests that come after its end.
    package static var transportClosed: SyncError {
        SyncError(.networkUnavailable, "The transport was closed.")
    }
}

extension Duration {
    /// The duration for timers, from none to a day: that is as good as for ever, and far from overflow.
    package var timerNanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(86_400)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
