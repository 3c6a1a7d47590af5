// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks that the tests named in Tests/Rules.md exist.
@Suite struct RulesMatrixTests {
    private static var root: URL {
        (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the test names in the text: the quotations in backquotes that contain a space.
    private static func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.contains(" ") }.map { String($0.element) }
    }

    @Test func `every test that the rules name exists`() throws {
        let rows = try Self.text("Tests/Rules.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") }
        let named = rows.flatMap { Self.names(in: $0.split(separator: "|").last ?? "") }
        #expect(named.count > 200)

        // In a declaration a parenthesis follows the quoted name.
        var existing: Set<String> = []
        for directory in ["Tests", "Sources/StoreConformance"] {
            let path = Self.root.appendingPathComponent(directory).path
            let files = FileManager.default.enumerator(atPath: path)
            for case let file as String in try #require(files) where file.hasSuffix(".swift") {
                let source = try Self.text("\(directory)/\(file)")
                let pieces = source.split(separator: "`", omittingEmptySubsequences: false)
                for (quoted, next) in zip(pieces, pieces.dropFirst())
                where quoted.contains(" ") && next.hasPrefix("(") {
                    existing.insert(String(quoted))
                }
            }
        }
        for name in named { #expect(existing.contains(name), "\(name)") }
    }

    @Test func `rule numbers are unique`() throws {
        let numbers = try Self.text("Tests/Rules.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") }
            .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
            .filter { $0 != "#" && !$0.hasPrefix("-") }
        #expect(Set(numbers).count == numbers.count)
    }
}
