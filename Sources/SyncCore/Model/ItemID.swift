// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The rules for item ids, which are those of the original service: every id can be a path segment of a URL.
public enum ItemID {
    /// The longest id, in characters (Unicode scalars).
    public static let maxLength = 255
    /// The longest id, in UTF-8 bytes.
    public static let maxUTF8Length = 4 * maxLength

    /// Checks an id: 1 to 255 characters, no control characters, none of `"`, `+`, `?`, `\`, `/`, `#` and
    /// backquote, and not `.` or `..`.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID``.
    public static func validate(_ id: String) throws(SyncError) {
        try validate(id, in: nil)
    }

    /// Checks an id as ``validate(_:)`` does.
    ///
    /// - Parameter table: the table to name in the error; `nil` if it is not known.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID``.
    static func validate(_ id: String, in table: String?) throws(SyncError) {
        guard let problem = problem(in: id) else { return }
        let name = id.isEmpty ? "" : " '\(id.shownInError)'"
        let place = table.map { " of an item in '\($0)'" } ?? ""
        throw SyncError(.invalidItemID, "The id\(name)\(place) is not valid: \(problem)")
    }

    /// Whether ``validate(_:)`` accepts the id.
    static func isValid(_ id: String) -> Bool { problem(in: id) == nil }

    private static func problem(in id: String) -> String? {
        if id.isEmpty { return "it is empty." }
        if id == "." || id == ".." { return "'.' and '..' are relative paths in a URL." }
        if id.utf8.count <= maxLength, id.isPlain { return nil }
        var length = 0
        for scalar in id.unicodeScalars {
            length += 1
            if length > maxLength { return "it is longer than \(maxLength) characters." }
            switch scalar {
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                return "it contains a control character."
            case "\"", "+", "?", "\\", "/", "#", "`":
                return "it contains '\(scalar)'; none of \" + ? \\ / # ` is allowed."
            default: break
            }
        }
        return nil
    }
}

extension String {
    /// The beginning of the text on one line.
    fileprivate var shownInError: String {
        let beginning = String(unicodeScalars.prefix(64))
        let rest = beginning.utf8.count < utf8.count ? "…" : ""
        return beginning.printable(replacement: "\u{FFFD}") + rest
    }

    /// Whether this has only ASCII letters, digits, hyphens and underscores: the fast path for most ids.
    fileprivate var isPlain: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in bytes.allSatisfy { $0.isPlain } } ?? false
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool {
        isASCIILetter || isASCIIDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
