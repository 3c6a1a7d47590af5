// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The search of filters for a text in another one.
package enum SubstringSearch {
    /// The maximum length of the text that is searched for, in characters. PostgreSQL's search takes the product of both
    /// lengths, and cannot be interrupted.
    package static let maxPatternLength = 1000

    /// Returns the position of the first occurrence of a pattern. The number of comparisons is proportional to the sum of both
    /// lengths, by the algorithm of Knuth, Morris and Pratt.
    static func position<Element: Equatable>(
        of pattern: UnsafeBufferPointer<Element>, in text: UnsafeBufferPointer<Element>
    ) -> Int? {
        guard !pattern.isEmpty else { return 0 }
        guard pattern.count <= text.count else { return nil }
        // For each prefix of the pattern, the length of its longest proper prefix that is also its suffix.
        var borders = [Int](repeating: 0, count: pattern.count)
        func extend(_ length: Int, by element: Element) -> Int {
            var length = length
            while true {
                if pattern[length] == element { return length + 1 }
                if length == 0 { return 0 }
                length = borders[length - 1]
            }
        }
        for index in 1..<pattern.count { borders[index] = extend(borders[index - 1], by: pattern[index]) }
        var length = 0
        for index in text.indices {
            length = extend(length, by: text[index])
            if length == pattern.count { return index + 1 - length }
        }
        return nil
    }
}

extension String {
    /// Returns the index of a substring, in Unicode scalars. UTF-8 contains a character's bytes only where the character is.
    func scalarIndex(of part: String) -> Int? {
        var (text, part) = (self, part)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                SubstringSearch.position(of: part, in: text).map { start in
                    // All bytes of a scalar but the first have the form 10xxxxxx.
                    text[..<start].reduce(0) { count, byte in byte & 0xC0 == 0x80 ? count : count + 1 }
                }
            }
        }
    }
}
