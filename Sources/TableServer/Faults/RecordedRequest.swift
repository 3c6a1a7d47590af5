// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A request as the server received it, with the status of the response.
public struct RecordedRequest: Sendable, Identifiable {
    /// The number of the request, from 1 in the order of arrival.
    public let id: Int
    /// The method, such as `PATCH`.
    public let method: String
    /// The path as received, percent-encoded.
    public let path: String
    /// The query as received, percent-encoded; empty when the request has none.
    public let query: String
    /// The headers in the order of the request.
    public let headers: [Header]
    /// The body, truncated to the server's maximum size.
    public let body: Data
    /// The size of the whole body in bytes; of a body that the server has refused before its end, what it has read.
    public let bodySize: Int
    /// Whether the server has read the whole body.
    let isBodyComplete: Bool
    /// The status of the response; `nil` before the response is sent, and when the server sends none.
    public internal(set) var status: Int?

    /// The decoded query parameters.
    public let parameters: [QueryParameter]
    let target: RequestPath?
    /// The address of the connection's other end, which can be a proxy.
    let remoteAddress: String
    /// Whether the server listens on an address that only this machine reaches.
    let isServerLocal: Bool

    /// One header of a request.
    public struct Header: Sendable, Hashable {
        /// The name, as the client spells it.
        public let name: String
        /// The value.
        public let value: String
    }

    init(
        id: Int, method: String, uri: String, headers: [Header], body: Data, bodySize: Int,
        isBodyComplete: Bool = true, remoteAddress: String = "", isServerLocal: Bool = false
    ) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.id = id
        self.method = method
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = headers
        self.body = body
        self.bodySize = bodySize
        self.isBodyComplete = isBodyComplete
        self.remoteAddress = remoteAddress
        self.isServerLocal = isServerLocal
        parameters = QueryParameter.parse(query)
        target = RequestPath(rawPath: path)
    }

    /// The table name in the path, as the client spells it.
    public var table: String? { target?.table }

    /// The decoded id in the path.
    public var itemID: String? { target?.id }

    /// Returns the first header with this name, compared without regard to case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.hasSameName(as: name) }?.value
    }

    /// Returns the values of all headers with this name as one list: RFC 9110 §5.3.
    func headerList(_ name: String) -> String? {
        let values = headers.filter { $0.name.hasSameName(as: name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Returns the value of the first query parameter with this name.
    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}
