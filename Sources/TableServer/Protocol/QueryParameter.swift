// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One decoded `name=value` pair of a request's query.
public struct QueryParameter: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value; empty when the pair has none.
    public let value: String
    /// Whether name or value are not the percent-encoding of UTF-8. They are as they were sent then.
    private(set) var isMalformed = false

    /// Parses an encoded query: `+` is a space, other characters are percent-encoded.
    static func parse(_ query: String) -> [QueryParameter] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { $0.percentDecoded(plus: UInt8(ascii: " ")) }
            let texts = zip(decoded, parts).map { $0 ?? String($1).replacing("+", with: " ") }
            var parameter = QueryParameter(name: texts[0], value: texts.count > 1 ? texts[1] : "")
            parameter.isMalformed = decoded.contains(nil)
            return parameter
        }
    }
}
