// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport over Foundation's `URLSession`.
///
/// It keeps no cookies and no cache, reuses connections, and follows a redirect only for a GET and only within
/// the origin; any other redirect is the answer. Plain HTTP is refused except to this machine, unless
/// `allowsInsecureHTTP` is set. Letting go of the transport closes its connections.
///
/// On Linux, Foundation ends the process when a server closes a connection in order after the status line and
/// before the end of the headers, unless it has sent `Content-Length` by then. An app that has to survive hostile
/// servers there brings a transport of its own.
public final class URLSessionTransport: HTTPTransport {
    /// The longest body accepted, in bytes after decompression.
    public let maxBodyBytes: Int
    /// Whether plain HTTP is allowed to any host.
    public let allowsInsecureHTTP: Bool

    private let deadlines: URLSessionExchange.Deadlines
    private let router = URLSessionRouter()
    private let session: URLSession
    private let isClosed = Mutex(false)

    /// Makes a transport with connections of its own.
    ///
    /// - Parameters:
    ///   - idleTimeout: how long a request may go without a byte in either direction.
    ///   - totalTimeout: how long a request may take altogether.
    ///   - maxBodyBytes: the longest body accepted, in bytes after decompression.
    ///   - allowsInsecureHTTP: whether plain HTTP is allowed to other hosts than this machine.
    public init(
        idleTimeout: Duration = .seconds(60), totalTimeout: Duration = .seconds(600),
        maxBodyBytes: Int = 64 << 20, allowsInsecureHTTP: Bool = false
    ) {
        self.maxBodyBytes = maxBodyBytes
        self.allowsInsecureHTTP = allowsInsecureHTTP
        deadlines = URLSessionExchange.Deadlines(idle: idleTimeout, total: totalTimeout)
        let configuration = URLSessionConfiguration.ephemeral
        // Besides being stale, a cache makes cancelling unsafe: Foundation on Linux may then end the process.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: router, delegateQueue: nil)
    }

    /// Sends one request; see ``HTTPTransport/send(_:)``.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let exchange = try makeExchange(for: try urlRequest(for: request))
        defer { router.remove(exchange) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchange.start($0) }
        } onCancel: {
            exchange.finish(.failure(CancellationError()))
        }
    }

    /// Ends requests under way with an error and refuses later ones. Closing again does nothing.
    public func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        router.finishAll(with: SyncError.transportClosed)
        session.invalidateAndCancel()
    }

    deinit { close() }

    /// A session that was invalidated must not be asked for a task: that ends the process. So an exchange is
    /// refused after ``close()``, or registered before and ended by it.
    private func makeExchange(for request: URLRequest) throws(SyncError) -> URLSessionExchange {
        let exchange = isClosed.withLock { isClosed -> URLSessionExchange? in
            if isClosed { return nil }
            let exchange = URLSessionExchange(
                task: session.dataTask(with: request), maxBodyBytes: maxBodyBytes, deadlines: deadlines)
            router.register(exchange)
            return exchange
        }
        guard let exchange else { throw SyncError.transportClosed }
        return exchange
    }

    private func urlRequest(for request: HTTPTransportRequest) throws(SyncError) -> URLRequest {
        try request.validate(allowsInsecureHTTP: allowsInsecureHTTP)
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        // Foundation's own timer has whole seconds and no total; the exchange keeps its own deadlines.
        urlRequest.timeoutInterval = 7 * 86_400
        for field in request.headers.fields {
            let value = request.headers[field.name]
            urlRequest.setValue(value, forHTTPHeaderField: field.name)
            guard urlRequest.value(forHTTPHeaderField: field.name) == value else {
                throw SyncError(.invalidRequest, "The header '\(field.name)' was not accepted.")
            }
        }
        return urlRequest
    }
}
