// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Names of fields and their positions, shared by all rows that keep their values in these positions.
@usableFromInline package final class FieldLayout: Sendable {
    /// The names, in the order of their positions.
    @usableFromInline package let names: [String]
    /// The UTF-8 bytes of all names, and where each name ends.
    private let bytes: [UInt8]
    private let ends: [Int]
    /// The positions by name; `nil` for a few names, because comparing them takes less time than hashing one.
    private let positions: [String: Int]?

    @usableFromInline package init(_ names: some Sequence<String>) {
        self.names = Array(names)
        var (bytes, ends): ([UInt8], [Int]) = ([], [])
        for name in self.names {
            bytes += name.utf8
            ends.append(bytes.count)
        }
        (self.bytes, self.ends) = (bytes, ends)
        positions =
            ends.count <= 8
            ? nil
            : Dictionary(self.names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    @usableFromInline package var count: Int { names.count }

    /// The position of the name, which is compared as the keys of a dictionary are.
    package func position(of name: String) -> Int? {
        // Names of different lengths are told apart at once; few lookups are of a name that is equivalent only.
        if let positions { positions[name] } else { position(ofBytesOf: name) ?? names.firstIndex(of: name) }
    }

    /// The position of the name, which is compared byte for byte.
    func position(ofBytesOf name: String) -> Int? {
        guard let positions else { return names.firstIndex { $0.hasSameBytes(as: name) } }
        // A dictionary also finds a name that is only canonically equivalent.
        return positions[name].flatMap { names[$0].hasSameBytes(as: name) ? $0 : nil }
    }

    /// The position of the name with these UTF-8 bytes.
    func position(ofUTF8 name: UnsafeRawBufferPointer) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var start = 0
            for position in 0..<ends.count {
                let end = ends[position]
                if end - start == name.count,
                    UnsafeRawBufferPointer(rebasing: bytes[start..<end]).hasSameBytes(as: name)
                {
                    return position
                }
                start = end
            }
            return nil
        }
    }

    /// Whether the name at the position has these UTF-8 bytes.
    @inline(__always) func hasUTF8(_ name: UnsafeRawBufferPointer, at position: Int) -> Bool {
        let start = position == 0 ? 0 : ends[position - 1]
        guard ends[position] - start == name.count else { return false }
        return bytes.withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[start..<ends[position]]).hasSameBytes(as: name)
        }
    }
}

extension FieldLayout: Hashable {
    /// Compares the names byte for byte.
    @usableFromInline package static func == (left: FieldLayout, right: FieldLayout) -> Bool {
        left === right || left.bytes == right.bytes && left.ends == right.ends
    }

    /// Hashes what `==` compares.
    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
