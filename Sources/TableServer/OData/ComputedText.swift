// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The texts that filters compute with `concat`. No other function makes a text longer than a few times its argument.
package enum ComputedText {
    /// The maximum length in bytes of UTF-8. A database keeps the results of many calls in memory while it evaluates a filter
    /// for a row, and it cannot interrupt a call.
    package static let maxByteCount = 1_000_000

    /// Whether the text of these parts is longer than the limit. Values that are not texts have none.
    static func exceedsLimit(_ parts: [ItemValue]) -> Bool {
        let texts = parts.compactMap(\.textValue)
        return texts.count == parts.count && texts.reduce(0) { $0 + $1.utf8.count } > maxByteCount
    }
}

extension RequestError {
    package static let computedTextTooLong = RequestError(
        status: 400, message: "'$filter' computes a text of more than \(ComputedText.maxByteCount) bytes.")
}
