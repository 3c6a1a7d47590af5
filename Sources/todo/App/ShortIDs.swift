// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Shortens ids to the shortest common length at which they differ.
struct ShortIDs {
    private let length: Int

    private static let minimumLength = 8

    /// Finds the length for these ids.
    init(_ ids: [String]) {
        let sorted = Set(ids).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let sharedLength = zip(sorted, sorted.dropFirst()).map { Self.commonPrefixLength($0, $1) }.max() ?? 0
        length = max(sharedLength + 1, Self.minimumLength)
    }

    /// Returns the shortened id as it is printed. An id of the server can contain direction controls and line separators.
    func short(_ id: String) -> String {
        String(String.UnicodeScalarView(id.unicodeScalars.prefix(length))).printable
    }

    private static func commonPrefixLength(_ first: String, _ second: String) -> Int {
        zip(first.unicodeScalars, second.unicodeScalars).prefix { $0 == $1 }.count
    }
}
