// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One `name=value` of a request's query, decoded.
public struct QueryParameter: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value; empty when there is none.
    public let value: String

    /// Reads a query as it came: `+` is a space, everything else is percent-encoded.
    static func parse(_ query: String) -> [QueryParameter] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryParameter(
                name: decode(parts[0]), value: parts.count > 1 ? decode(parts[1]) : "")
        }
    }

    private static func decode(_ text: Substring) -> String {
        let spaced = String(text).replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }
}
