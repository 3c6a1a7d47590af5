// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A map sorted by the bytes of its keys. A copy is a cheap snapshot that shares unchanged entries.
struct SortedBytes: Sendable {
    typealias Entry = (key: [UInt8], value: [UInt8])

    /// Sorted chunks of sorted entries; a change copies one chunk.
    private var chunks: [[Entry]] = []
    private static let maxLength = 128

    subscript(key: [UInt8]) -> [UInt8]? {
        get {
            let position = position(of: key)
            return contains(key, at: position) ? chunks[position.chunk][position.index].value : nil
        }
        set {
            var position = position(of: key)
            switch (contains(key, at: position), newValue) {
            case (true, let value?): chunks[position.chunk][position.index].value = value
            case (true, nil):
                chunks[position.chunk].remove(at: position.index)
                if chunks[position.chunk].isEmpty { chunks.remove(at: position.chunk) }
            case (false, let value?):
                if position.chunk == chunks.count {
                    if chunks.isEmpty { chunks.append([]) }
                    position = (chunks.count - 1, chunks[chunks.count - 1].count)
                }
                chunks[position.chunk].insert((key, value), at: position.index)
                split(position.chunk)
            case (false, nil): break
            }
        }
    }

    /// Calls the body with each entry in order, from the first that is not less than the key, until it returns false.
    func forEach(from start: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool) rethrows {
        var (chunk, index) = position(of: start)
        while chunk < chunks.count {
            for entry in chunks[chunk][index...] where try !body(entry.key, entry.value) { return }
            (chunk, index) = (chunk + 1, 0)
        }
    }

    private func contains(_ key: [UInt8], at position: (chunk: Int, index: Int)) -> Bool {
        position.chunk < chunks.count && position.index < chunks[position.chunk].count
            && chunks[position.chunk][position.index].key == key
    }

    /// Returns the position of the first entry that is not less than the key.
    private func position(of key: [UInt8]) -> (chunk: Int, index: Int) {
        let chunk = Self.firstIndex(in: chunks.count) {
            chunks[$0][chunks[$0].count - 1].key.lexicographicallyPrecedes(key)
        }
        guard chunk < chunks.count else { return (chunk, 0) }
        return (
            chunk,
            Self.firstIndex(in: chunks[chunk].count) { chunks[chunk][$0].key.lexicographicallyPrecedes(key) }
        )
    }

    private mutating func split(_ chunk: Int) {
        guard chunks[chunk].count > Self.maxLength else { return }
        let half = chunks[chunk].count / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeSubrange(half...)
    }

    private static func firstIndex(in count: Int, isBelow: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBelow(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
