// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The encoding of a row's version in `ETag` and `If-Match`: in quotes, with escaped quotes.
enum EntityTag {
    /// Returns the version in an `ETag` header; `nil` for a weak tag, `*`, an empty tag or several tags.
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

    /// Returns the version of a row, given the versions in the `ETag` header and in the row.
    ///
    /// The header has precedence, unless it is the row's version with a suffix such as `-gzip`: proxies that compress a
    /// response add one.
    static func version(inHeader header: String?, inRow version: String?) -> String? {
        guard let version, !version.isEmpty else { return header }
        guard let header else { return version }
        let suffix = header.dropping(prefix: version)?.utf8
        let isSuffixed = suffix.map { $0.count > 1 && $0.first == UInt8(ascii: "-") } ?? false
        return isSuffixed ? version : header
    }

    /// Returns the value of the header for a version.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidRequest`` when a header cannot contain the version:
    ///   without its condition, the request could overwrite another client's change.
    static func header(for version: String) throws(SyncError) -> String {
        guard !version.isEmpty, version.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw SyncError(
                .invalidRequest,
                "The item's version cannot be sent in If-Match: it is empty, or contains characters other than "
                    + "printable ASCII.")
        }
        return "\"" + version.replacing("\"", with: "\\\"") + "\""
    }
}
