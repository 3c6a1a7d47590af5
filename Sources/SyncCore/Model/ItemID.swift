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
        if let problem = problem(in: id) {
            throw SyncError(.invalidItemID, "The id is not valid: \(problem)")
        }
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
