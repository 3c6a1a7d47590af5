// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A request as it reached the server, and what became of it.
public struct RecordedRequest: Sendable, Identifiable {
    /// The number of the request, from 1 in the order of arrival.
    public let id: Int
    /// The method, such as `PATCH`.
    public let method: String
    /// The path as it came, still percent-encoded.
    public let path: String
    /// The query as it came, still percent-encoded; empty when there is none.
    public let query: String
    /// The headers in the order in which they came.
    public let headers: [Header]
    /// The body, cut off where it exceeds the server's maximum.
    public let body: Data
    /// The bytes of the whole body.
    public let bodySize: Int
    /// The status of the answer, or `nil` while there is none and when none was sent.
    public internal(set) var status: Int?

    /// The parameters of the query, decoded.
    public let parameters: [QueryParameter]
    let target: RequestPath?

    /// One header of a request.
    public struct Header: Sendable, Hashable {
        /// The name in the client's spelling.
        public let name: String
        /// The value.
        public let value: String
    }

    init(id: Int, method: String, uri: String, headers: [Header], body: Data, bodySize: Int) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.id = id
        self.method = method
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = headers
        self.body = body
        self.bodySize = bodySize
        parameters = QueryParameter.parse(query)
        target = RequestPath(rawPath: path)
    }

    /// The table that the path names, in the client's spelling.
    public var table: String? { target?.table }

    /// The id that the path names, decoded.
    public var itemID: String? { target?.id }

    /// The first header of that name; case does not matter.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.asciiLowercased == name.asciiLowercased }?.value
    }

    /// The first parameter of that name.
    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}
