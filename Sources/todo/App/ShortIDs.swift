// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Ids cut to as much as tells them apart, all to the same length.
struct ShortIDs {
    private let length: Int

    private static let minimumLength = 8

    /// Finds the length for those ids.
    init(_ ids: [String]) {
        let sorted = Set(ids).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let shared = zip(sorted, sorted.dropFirst()).map { Self.sharedLength($0, $1) }.max() ?? 0
        length = max(shared + 1, Self.minimumLength)
    }

    /// The beginning of the id.
    func short(_ id: String) -> String { String(String.UnicodeScalarView(id.unicodeScalars.prefix(length))) }

    private static func sharedLength(_ first: String, _ second: String) -> Int {
        zip(first.unicodeScalars, second.unicodeScalars).prefix { $0 == $1 }.count
    }
}
