// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An HTTP request as a transport sends it.
public struct HTTPTransportRequest: Sendable, Hashable {
    /// The method, in capitals.
    public var method: String
    /// The absolute URL, percent-encoded as it goes out.
    public var url: URL
    /// The headers, in the order they were set.
    public var headers: HTTPTransportHeaders
    /// The body, if there is one.
    public var body: Data?

    /// Makes a request.
    public init(method: String, url: URL, headers: HTTPTransportHeaders = [:], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The answer to an HTTP request.
public struct HTTPTransportResponse: Sendable, Hashable {
    /// The status, such as 200.
    public var status: Int
    /// The headers.
    public var headers: HTTPTransportHeaders
    /// The body after decompression; empty when there is none.
    public var body: Data

    /// Makes an answer.
    public init(status: Int, headers: HTTPTransportHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
