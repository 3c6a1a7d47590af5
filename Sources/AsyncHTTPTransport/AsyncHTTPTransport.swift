// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
public import SyncCore
import Synchronization

/// Sends requests with AsyncHTTPClient, which on Linux is several times as fast as URLSession.
///
/// ```swift
/// let client = SyncClient(url: url, transport: AsyncHTTPTransport())
/// ```
///
/// It keeps what ``HTTPTransport`` promises, as ``URLSessionTransport`` does: a redirect is followed within the origin
/// and for GET alone, there are no cookies and no cache, compressed answers are unpacked, and connections are used
/// again. On Apple systems prefer URLSession, which knows the system's proxies and network conditions.
public final class AsyncHTTPTransport: HTTPTransport {
    /// The greatest number of bytes of a body, after decompression.
    public let maxBodyBytes: Int
    /// Whether plain HTTP may go to other hosts than this machine.
    public let allowsInsecureHTTP: Bool

    private let client: HTTPClient
    private let totalTimeout: Duration
    private let isClosed = Mutex(false)

    private static let maxRedirects = 5

    /// Makes a transport with connections of its own.
    ///
    /// - Parameters:
    ///   - idleTimeout: how long a connection may take to be made, and how long nothing may come over it.
    ///   - totalTimeout: how long a request may take in all, redirects included.
    ///   - maxBodyBytes: the greatest number of bytes of a body, after decompression.
    ///   - allowsInsecureHTTP: whether plain HTTP may go to other hosts than this machine.
    public init(
        idleTimeout: Duration = .seconds(60), totalTimeout: Duration = .seconds(600),
        maxBodyBytes: Int = 64 << 20, allowsInsecureHTTP: Bool = false
    ) {
        self.maxBodyBytes = maxBodyBytes
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.totalTimeout = .nanoseconds(totalTimeout.timerNanoseconds)
        let idle = TimeAmount.nanoseconds(idleTimeout.timerNanoseconds)
        // Bodies are measured as they come, unpacked: the client's own limit is not needed.
        let configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: idle, read: idle),
            decompression: .enabled(limit: .none))
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { close() }

    /// Sends one request and returns the whole answer.
    ///
    /// - Throws: as ``HTTPTransport/send(_:)``; for a failed exchange ``SyncError`` with code
    ///   ``SyncError/Code/networkUnavailable``.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        try request.validate(allowsInsecureHTTP: allowsInsecureHTTP)
        // The client's own deadline ends with the head of the answer.
        return try await withThrowingTaskGroup(of: HTTPTransportResponse.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.follow(request) }
            group.addTask { [totalTimeout] in
                try await Task.sleep(for: totalTimeout)
                throw SyncError.exchangeFailed(hasTimedOut: true, cause: HTTPClientError.deadlineExceeded)
            }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    private func follow(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        var (current, redirects) = (request, 0)
        while true {
            let response = try await exchange(current)
            guard redirects < Self.maxRedirects, (300..<400).contains(response.status),
                let location = response.headers["Location"],
                let target = URL(string: location, relativeTo: current.url)?.absoluteURL,
                request.mayFollowRedirect(to: target)
            else { return response }
            current.url = target
            redirects += 1
        }
    }

    /// Ends the requests that are under way, and closes all connections. Later requests are refused.
    public func close() {
        isClosed.withLock { $0 = true }
        // The client may only go when it has shut down: this keeps it until then.
        client.shutdown(queue: .global()) { [client] _ in _ = client }
    }

    private func exchange(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        do {
            let response = try await begin(request)
            return HTTPTransportResponse(
                status: Int(response.status.code), headers: HTTPTransportHeaders(response.headers),
                body: try await body(of: response))
        } catch let error as HTTPBodyLimitExceeded {
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw failure(error)
        }
    }

    /// Sends a GET once more when the server had closed the connection before it could be sent.
    private func begin(_ request: HTTPTransportRequest) async throws -> HTTPClientResponse {
        let clientRequest = HTTPClientRequest(request)
        do {
            return try await client.execute(clientRequest, deadline: .distantFuture)
        } catch ChannelError.ioOnClosedChannel where request.method == "GET" {
            return try await client.execute(clientRequest, deadline: .distantFuture)
        }
    }

    private func body(of response: HTTPClientResponse) async throws -> Data {
        var body = Data()
        for try await part in response.body {
            guard part.readableBytes <= maxBodyBytes - body.count else {
                throw HTTPBodyLimitExceeded(status: Int(response.status.code), limit: maxBodyBytes)
            }
            part.withUnsafeReadableBytes { body.append(contentsOf: $0) }
        }
        return body
    }

    private func failure(_ error: any Error) -> SyncError {
        if isClosed.withLock({ $0 }) { return .transportClosed }
        return switch error as? HTTPClientError {
        case .readTimeout, .connectTimeout, .deadlineExceeded:
            .exchangeFailed(hasTimedOut: true, cause: error)
        default: .exchangeFailed(cause: error)
        }
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: HTTPTransportRequest) {
        self.init(url: request.url.absoluteString)
        method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields { headers.add(name: field.name, value: field.value) }
        if request.headers["Accept-Encoding"] == nil {
            headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        if let bytes = request.body { body = .bytes(bytes, length: .known(Int64(bytes.count))) }
    }
}

extension HTTPTransportHeaders {
    fileprivate init(_ headers: HTTPHeaders) {
        self.init(headers.map { Field(name: $0.name, value: $0.value) })
    }
}
