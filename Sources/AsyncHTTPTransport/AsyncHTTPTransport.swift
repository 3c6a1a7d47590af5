// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
public import SyncCore
import Synchronization

/// The transport over AsyncHTTPClient, which is several times as fast as URLSession on Linux.
///
/// ```swift
/// let client = SyncClient(url: url, transport: AsyncHTTPTransport())
/// ```
///
/// It behaves as ``URLSessionTransport``: it keeps no cookies and no cache, decompresses responses, reuses connections, and
/// follows a redirect only for a GET and only within the origin. On Apple systems prefer URLSession, which uses the
/// proxies and network settings of the system.
public final class AsyncHTTPTransport: HTTPTransport {
    /// The longest body accepted, in bytes after decompression.
    public let maxBodyBytes: Int
    /// Whether plain HTTP is allowed to any host.
    public let allowsInsecureHTTP: Bool

    private let client: HTTPClient
    private let idleTimeout: Duration
    private let totalTimeout: Duration
    private let isClosed = Mutex(false)

    private static let maxRedirects = 5

    /// Makes a transport with a separate pool of connections.
    ///
    /// - Parameters:
    ///   - idleTimeout: how long connecting may take, and how long a request may go without a byte in either direction.
    ///   - totalTimeout: how long a request may take altogether, including redirects.
    ///   - maxBodyBytes: the longest body accepted, in bytes after decompression.
    ///   - allowsInsecureHTTP: whether plain HTTP is allowed to other hosts than this machine.
    public init(
        idleTimeout: Duration = .seconds(60), totalTimeout: Duration = .seconds(600),
        maxBodyBytes: Int = 64 << 20, allowsInsecureHTTP: Bool = false
    ) {
        self.maxBodyBytes = maxBodyBytes
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.idleTimeout = .nanoseconds(idleTimeout.timerNanoseconds)
        self.totalTimeout = .nanoseconds(totalTimeout.timerNanoseconds)
        let idle = TimeAmount.nanoseconds(idleTimeout.timerNanoseconds)
        // Decompressed bodies are measured as they arrive, so the client's limit is not needed.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: idle, read: idle),
            decompression: .enabled(limit: .none))
        // A refused connection is an immediate error instead of a timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The client's own choice on Apple systems waits for a network instead of failing, and reports other errors.
        client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration)
    }

    deinit { close() }

    /// Sends one request and returns the whole response.
    ///
    /// - Throws: as ``HTTPTransport/send(_:)``; for a failed exchange ``SyncError`` with code
    ///   ``SyncError/Code/networkUnavailable``.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let url = try request.validate(allowsInsecureHTTP: allowsInsecureHTTP)
        let upload = Upload(request.body, idleTimeout: idleTimeout)
        // The client's own deadline ends with the head of the response.
        return try await withThrowingTaskGroup(of: HTTPTransportResponse.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.follow(request, upload, to: url) }
            group.addTask { [totalTimeout] in
                let end = ContinuousClock.now + totalTimeout
                while true {
                    let next = min(end, upload?.deadline ?? end)
                    guard next > .now else { break }
                    try await Task.sleep(until: next, clock: .continuous)
                }
                throw SyncError(NetworkFailure(.timedOut, to: url, cause: HTTPClientError.deadlineExceeded))
            }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    private func follow(
        _ request: HTTPTransportRequest, _ upload: Upload?, to url: URL
    ) async throws -> HTTPTransportResponse {
        var (current, redirects) = (url, 0)
        while true {
            let response = try await exchange(request, upload, to: current)
            guard redirects < Self.maxRedirects, response.head.status.kind == .redirection,
                let location = response.head.headerFields[.location],
                let target = URL(string: location, relativeTo: current)?.absoluteURL,
                HTTPTransportRequest.mayFollowRedirect(
                    method: request.head.method.rawValue, from: url, to: target)
            else { return response }
            current = target
            redirects += 1
        }
    }

    /// Ends the requests in progress, and closes all connections. Later requests are refused.
    public func close() {
        isClosed.withLock { $0 = true }
        // Keeps the client alive until it has shut down.
        client.shutdown(queue: .global()) { [client] _ in _ = client }
    }

    private func exchange(
        _ request: HTTPTransportRequest, _ upload: Upload?, to url: URL
    ) async throws -> HTTPTransportResponse {
        do {
            let response = try await begin(HTTPClientRequest(request, upload, to: url))
            let head = HTTPResponse(
                status: HTTPResponse.Status(code: Int(response.status.code)),
                headerFields: HTTPFields(response.headers))
            return HTTPTransportResponse(head, body: try await body(of: response))
        } catch let error as HTTPBodyLimitExceeded {
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            let reason = isClosed.withLock { $0 } ? .transportClosed : NetworkFailure.Reason(error)
            throw SyncError(NetworkFailure(reason, to: url, cause: error))
        }
    }

    /// Sends a GET again if the server closed the connection before the request was sent.
    private func begin(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: .distantFuture)
        } catch ChannelError.ioOnClosedChannel where request.method == .GET {
            return try await client.execute(request, deadline: .distantFuture)
        }
    }

    private func body(of response: HTTPClientResponse) async throws -> Data {
        var body = Data()
        do {
            for try await part in response.body {
                guard part.readableBytes <= maxBodyBytes - body.count else {
                    throw HTTPBodyLimitExceeded(status: Int(response.status.code), limit: maxBodyBytes)
                }
                part.withUnsafeReadableBytes { body.append(contentsOf: $0) }
            }
        } catch let error as NIOHTTPDecompression.ExtraDecompressionError
            where error == .truncatedData && body.isEmpty && response.marksEndOfBody
        {
            // Decompressing an empty body fails.
        }
        return body
    }
}

extension HTTPClientResponse {
    /// Whether the body is as long as the server wanted, and not what arrived before the connection closed.
    fileprivate var marksEndOfBody: Bool {
        [204, 304].contains(status.code) || headers.contains(name: "Content-Length")
            || headers.contains(name: "Transfer-Encoding") || version == .http2
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: HTTPTransportRequest, _ upload: Upload?, to url: URL) {
        self.init(url: url.absoluteString)
        method = HTTPMethod(rawValue: request.head.method.rawValue)
        for field in request.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if request.head.headerFields[.acceptEncoding] == nil {
            headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        guard let bytes = request.body else { return }
        let length = Body.Length.known(Int64(bytes.count))
        body =
            if let upload { .stream(UploadParts(bytes: bytes, upload: upload), length: length) } else {
                .bytes(bytes, length: length)
            }
    }
}

extension HTTPFields {
    fileprivate init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
