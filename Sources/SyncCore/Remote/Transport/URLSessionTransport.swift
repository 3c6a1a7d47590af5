// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport over Foundation's `URLSession`.
///
/// It keeps no cookies and no cache, reuses connections, and follows a redirect only for a GET and only within
/// the origin; any other redirect is the response. Plain HTTP is refused except to this machine, unless
/// `allowsInsecureHTTP` is set. Releasing the transport closes its connections.
///
/// When the server closes a reused connection without a response, URLSession sends the request again over a new one,
/// so the server may have executed it twice. A push compares every conflict with what it has sent, and recognizes its
/// own change. Callers of ``RemoteTable`` see the conflict of an insert with an id, and of a change with a version; an insert
/// without an id can make two rows.
///
/// On Linux prefer the product `AsyncHTTPTransport`: Foundation there uses a whole core while a request waits, and
/// ends the process when a server closes a connection in order after the status line and before the end of the headers,
/// unless it has sent `Content-Length` by then.
public final class URLSessionTransport: HTTPTransport {
    /// The longest body accepted, in bytes after decompression.
    public let maxBodyBytes: Int
    /// Whether plain HTTP is allowed to any host.
    public let allowsInsecureHTTP: Bool

    private let deadlines: URLSessionExchange.Deadlines
    private let router = URLSessionRouter()
    private let session: URLSession
    private let isClosed = Mutex(false)

    /// Makes a transport with a separate pool of connections.
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
        let exchange = try makeExchange(for: try urlRequest(for: request), body: request.body)
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
        router.closeAll()
        session.invalidateAndCancel()
    }

    deinit { close() }

    /// A session that was invalidated must not be asked for a task: that ends the process. So an exchange is
    /// refused after ``close()``, or registered before and ended by it.
    private func makeExchange(for request: URLRequest, body: Data?) throws(SyncError) -> URLSessionExchange {
        let exchange = isClosed.withLock { isClosed -> URLSessionExchange? in
            if isClosed { return nil }
            let exchange = URLSessionExchange(
                task: session.dataTask(with: request), requestBody: body, maxBodyBytes: maxBodyBytes,
                deadlines: deadlines)
            router.register(exchange)
            return exchange
        }
        guard let exchange else {
            throw SyncError(NetworkFailure(.transportClosed, to: request.url, cause: nil))
        }
        return exchange
    }

    private func urlRequest(for request: HTTPTransportRequest) throws(SyncError) -> URLRequest {
        let url = try request.validate(allowsInsecureHTTP: allowsInsecureHTTP)
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.head.method.rawValue
        urlRequest.setBody(request.body)
        // Foundation's own timer has whole seconds and no total; the exchange keeps its own deadlines.
        urlRequest.timeoutInterval = 7 * 86_400
        for field in request.head.headerFields {
            let name = field.name.rawName
            let value = request.head.headerFields[field.name]
            urlRequest.setValue(value, forHTTPHeaderField: name)
            guard urlRequest.value(forHTTPHeaderField: name) == value else {
                throw SyncError(.invalidRequest, "The header '\(name)' was not accepted.")
            }
        }
        return urlRequest
    }
}

#if !canImport(FoundationNetworking)
    extension URLRequest {
        fileprivate mutating func setBody(_ body: Data?) { httpBody = body }
    }
#endif
