// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The way a row's version travels in `ETag` and `If-Match`: between quotes, with its own quotes escaped.
enum EntityTag {
    /// The version in an `ETag` header; `nil` when there is none: a weak tag, `*`, nothing between the quotes, or
    /// several tags.
    static func version(from header: String?) -> String? {
        guard let header, !header.hasPrefix("W/"), header != "*" else { return nil }
        var text = header.unicodeScalars[...]
        if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        var version = String.UnicodeScalarView()
        for scalar in text {
            if scalar == "\"" {
                guard version.last == "\\" else { return nil }
                version.removeLast()
            }
            version.append(scalar)
        }
        return version.isEmpty ? nil : String(version)
    }

    /// The header's value for a version.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidRequest`` when the version cannot be in a header:
    ///   a request without its condition would overwrite blindly, so it is not sent.
    static func header(for version: String) throws(SyncError) -> String {
        guard !version.isEmpty, version.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw SyncError(
                .invalidRequest,
                "The item's version cannot be sent as a condition: it is empty or contains something other than "
                    + "printable ASCII.")
        }
        return "\"" + version.replacing("\"", with: "\\\"") + "\""
    }
}
