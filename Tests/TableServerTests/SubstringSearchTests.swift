// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TableServer

/// The search of filters for texts.
struct SubstringSearchTests {
    private final class Counter { var comparisons = 0 }

    /// An element that counts its comparisons.
    private struct Element: Equatable {
        let value: Int
        let counter: Counter

        static func == (left: Self, right: Self) -> Bool {
            left.counter.comparisons += 1
            return left.value == right.value
        }
    }

    @Test(arguments: [
        ("", "", 0), ("abc", "", 0), ("", "a", nil), ("a", "ab", nil), ("abc", "c", 2), ("aab", "ab", 1),
        ("abcabcabd", "abcabd", 3), ("ababac", "abac", 2), ("aaaab", "aab", 2), ("é日😀x", "x", 3),
        ("e\u{301}", "e", 0), ("e\u{301}", "\u{301}", 1), ("é", "e", nil), ("a\0b", "\0b", 1),
    ])
    func `the index of a text is counted in Unicode scalars`(_ text: String, _ part: String, _ index: Int?) {
        #expect(text.scalarIndex(of: part) == index)
    }

    @Test func `a search does not take the product of both lengths`() {
        let counter = Counter()
        func elements(_ count: Int, _ last: Int) -> [Element] {
            (1...count).map { Element(value: $0 == count ? last : 0, counter: counter) }
        }
        let (text, pattern) = (elements(2000, 0), elements(1000, 1))
        let position = text.withUnsafeBufferPointer { text in
            pattern.withUnsafeBufferPointer { SubstringSearch.position(of: $0, in: text) }
        }
        #expect(position == nil)
        #expect(counter.comparisons <= 2 * (text.count + pattern.count))
    }
}
