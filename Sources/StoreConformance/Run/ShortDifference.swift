// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Two different texts, shortened around their first difference if they are long.
struct ShortDifference {
    let expected: String
    let actual: String

    /// The number of characters that are not shortened.
    private static let limit = 600
    /// The number of equal characters before the difference.
    private static let context = 120
    private static let window = 400

    init(expected: String, actual: String) {
        guard max(expected.utf8.count, actual.utf8.count) > Self.limit else {
            (self.expected, self.actual) = (expected, actual)
            return
        }
        let equal = zip(expected.unicodeScalars, actual.unicodeScalars).prefix { $0 == $1 }.count
        let start = max(0, equal - Self.context)
        self.expected = expected.excerpt(from: start, length: Self.window)
        self.actual = actual.excerpt(from: start, length: Self.window)
    }
}

extension String {
    /// Returns the string, or its beginning and the number of the characters after it.
    func shortened(to length: Int) -> String {
        utf8.count <= length ? self : excerpt(from: 0, length: length)
    }

    /// Returns a part of the string, with the numbers of the characters before and after it.
    fileprivate func excerpt(from start: Int, length: Int) -> String {
        let rest = unicodeScalars.dropFirst(start)
        let part = rest.prefix(length)
        let before = start == 0 ? "" : "…(\(start) equal characters before) "
        let after = part.endIndex == rest.endIndex ? "" : " …(\(rest.count - part.count) characters after)"
        return before + String(String.UnicodeScalarView(part)) + after
    }
}
