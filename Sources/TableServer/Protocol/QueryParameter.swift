// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One decoded `name=value` pair of a request's query.
public struct QueryParameter: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value; empty when the pair has none.
    public let value: String

    /// Parses an encoded query: `+` is a space, other characters are percent-encoded.
    static func parse(_ query: String) -> [QueryParameter] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryParameter(
                name: decode(parts[0]), value: parts.count > 1 ? decode(parts[1]) : "")
        }
    }

    private static func decode(_ text: Substring) -> String {
        text.percentDecoded(plus: UInt8(ascii: " ")) ?? String(text).replacing("+", with: " ")
    }
}
