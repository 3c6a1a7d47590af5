// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The string without characters with the Unicode property White_Space at its ends. Foundation also removes U+200B, which
    /// servers keep.
    package var trimmingWhitespace: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}
