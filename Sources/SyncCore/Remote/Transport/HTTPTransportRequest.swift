// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import HTTPTypes

/// An HTTP request as a transport sends it.
///
/// Descriptions and dumps hide the values of header fields that carry credentials; those of `head` alone do not.
public struct HTTPTransportRequest: Sendable, Hashable {
    /// The method, the URL and the header fields.
    public var head: HTTPRequest
    /// The body, if there is one.
    public var body: Data?

    /// Makes a request.
    public init(_ head: HTTPRequest, body: Data? = nil) {
        self.head = head
        self.body = body
    }
}

/// The response to an HTTP request.
///
/// Descriptions and dumps hide the values of header fields that carry credentials; those of `head` alone do not.
public struct HTTPTransportResponse: Sendable, Hashable {
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The body after decompression; empty when there is none.
    public var body: Data

    /// Makes a response.
    public init(_ head: HTTPResponse, body: Data = Data()) {
        self.head = head
        self.body = body
    }

    /// Makes a response of a status.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: Data = Data()) {
        self.init(HTTPResponse(status: status, headerFields: headerFields), body: body)
    }
}

extension HTTPTransportRequest: CustomStringConvertible, CustomReflectable {
    /// The method, the URL, the header fields without credentials, and the size of the body.
    public var description: String {
        let size = body.map { ", \($0.count) bytes" } ?? ""
        return "\(head.debugDescription) \(head.headerFields.redactedDescription)\(size)"
    }
    /// The description alone, so that `dump` hides credentials too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPTransportResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the header fields without credentials, and the size of the body.
    public var description: String {
        "\(head.status.code) \(head.headerFields.redactedDescription), \(body.count) bytes"
    }
    /// The description alone, so that `dump` hides credentials too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPTransportRequest {
    /// Validates everything that a transport must not send.
    ///
    /// - Parameter allowsInsecureHTTP: whether plain HTTP is allowed to other hosts than this machine.
    /// - Returns: the URL.
    /// - Throws: ``SyncError/Code/invalidConfiguration`` for the URL, ``SyncError/Code/invalidRequest`` for a header
    ///   field.
    package func validate(allowsInsecureHTTP: Bool) throws(SyncError) -> URL {
        guard let url = head.url, let origin = Origin(url) else {
            throw SyncError(
                .invalidConfiguration,
                "The URL of a request must begin with http:// or https:// and have a host, no user name and no port "
                    + "above 65535.")
        }
        guard origin.scheme == "https" || allowsInsecureHTTP || origin.isLoopback else {
            throw SyncError(
                .invalidConfiguration,
                "Plain HTTP to '\(origin.host)' is refused: use https, or make the transport with "
                    + "allowsInsecureHTTP: true.")
        }
        try head.headerFields.validate()
        return url
    }

    /// Whether a redirect from one URL to the other may be followed: only a GET, and only within the origin, because
    /// the header fields are meant for no other.
    package static func mayFollowRedirect(method: String?, from first: URL, to second: URL) -> Bool {
        guard method == "GET", let origin = Origin(first) else { return false }
        return Origin(second) == origin
    }
}
