// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Sees every request before it is sent and every response before it is read: for logging, header fields, retries.
///
/// ```swift
/// struct Authorization: HTTPMiddleware {
///     let token: String
///
///     func intercept(
///         _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
///     ) async throws -> HTTPTransportResponse {
///         var request = request
///         request.head.headerFields[.authorization] = "Bearer \(token)"
///         return try await next(request)
///     }
/// }
/// ```
public protocol HTTPMiddleware: Sendable {
    /// Passes the request to `next`, changed or not, and returns the response, changed or not.
    ///
    /// It may call `next` several times, but a write that is sent again may be applied twice unless it has an
    /// `If-Match` field; and it may return a response without calling `next`.
    ///
    /// `HTTPField` replaces line breaks and other invalid characters in a value by spaces and reports no error, so a
    /// middleware validates values that it does not know. The transport refuses other values that cannot be sent.
    func intercept(
        _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
    ) async throws -> HTTPTransportResponse
}

/// The next middleware, or the transport after the last one.
public struct HTTPMiddlewareNext: Sendable {
    private let transport: any HTTPTransport
    private let middleware: ArraySlice<any HTTPMiddleware>

    init(_ transport: any HTTPTransport, behind middleware: ArraySlice<any HTTPMiddleware>) {
        self.transport = transport
        self.middleware = middleware
    }

    /// Passes requests to a transport: for calling a middleware directly, in tests of it.
    public init(_ transport: any HTTPTransport) {
        self.init(transport, behind: [])
    }

    /// Sends the request and returns the response.
    ///
    /// - Throws: the errors of ``HTTPTransport/send(_:)``, and those of the following middleware.
    public func callAsFunction(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard let first = middleware.first else {
            let sent = SentCredentials.current
            sent?.record(request.head.headerFields)
            do {
                let response = try await transport.send(request)
                sent?.record(.success(response))
                return response
            } catch {
                sent?.record(.failure(error))
                throw error
            }
        }
        return try await first.intercept(
            request, next: HTTPMiddlewareNext(transport, behind: middleware.dropFirst()))
    }
}
