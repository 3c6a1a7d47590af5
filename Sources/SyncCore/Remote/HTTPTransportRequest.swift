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

extension HTTPTransportRequest {
    /// Checks what a transport must not send.
    ///
    /// - Parameter allowsInsecureHTTP: whether plain HTTP may go to other hosts than this machine.
    /// - Throws: ``SyncError/Code/invalidRequest``.
    package func validate(allowsInsecureHTTP: Bool) throws(SyncError) {
        guard let origin = Origin(url) else {
            throw SyncError(.invalidRequest, "The URL of a request must be http or https and have a host.")
        }
        guard origin.scheme == "https" || allowsInsecureHTTP || origin.isLoopback else {
            throw SyncError(
                .invalidRequest,
                "Plain HTTP to '\(origin.host)' is refused: use https, or allow it with allowsInsecureHTTP.")
        }
        try headers.validate()
        let reserved = ["connection", "content-length", "host", "transfer-encoding"]
        for field in headers.fields where reserved.contains(field.name.lowercased()) {
            throw SyncError(.invalidRequest, "The header '\(field.name)' is set by the transport alone.")
        }
    }

    /// Whether a redirect to that URL may be followed: only a GET, and only within the origin, for the headers are
    /// meant for no other.
    package func mayFollowRedirect(to url: URL) -> Bool {
        guard method == "GET", let first = Origin(self.url) else { return false }
        return Origin(url) == first
    }
}
