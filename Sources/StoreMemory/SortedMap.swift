// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A map in ascending order of its keys, of which a copy is a cheap snapshot.
///
/// The entries lie in sorted chunks. Copying shares all of them; a change copies the chunk it touches and the
/// list of chunks, nothing else.
struct SortedMap<Key: Comparable, Value> {
    typealias Entry = (key: Key, value: Value)

    private var chunks: [[Entry]] = []
    private(set) var count = 0

    private static var maxChunkLength: Int { 256 }

    subscript(key: Key) -> Value? {
        get {
            let (chunk, index) = position(of: key)
            guard let entry = entry(chunk, index), entry.key == key else { return nil }
            return entry.value
        }
        set {
            if let newValue { insert(newValue, for: key) } else { remove(key) }
        }
    }

    /// The entries whose keys are not below the given one, in order; all of them for `nil`.
    func entries(from key: Key?) -> some Sequence<Entry> {
        let start = key.map(position) ?? (0, 0)
        return chunks[start.0...].lazy.enumerated().lazy.flatMap { offset, chunk in
            chunk[(offset == 0 ? start.1 : 0)...]
        }
    }

    /// All values, in the order of their keys.
    var values: some Sequence<Value> { chunks.lazy.joined().lazy.map(\.value) }

    /// Where the key is, or would be: the first entry that is not below it.
    private func position(of key: Key) -> (chunk: Int, index: Int) {
        let chunk = chunks.partitionPoint { ($0.last?.key).map { $0 < key } ?? true }
        guard chunk < chunks.count else { return (chunks.count, 0) }
        return (chunk, chunks[chunk].partitionPoint { $0.key < key })
    }

    private func entry(_ chunk: Int, _ index: Int) -> Entry? {
        chunk < chunks.count && index < chunks[chunk].count ? chunks[chunk][index] : nil
    }

    private mutating func insert(_ value: Value, for key: Key) {
        var (chunk, index) = position(of: key)
        if let entry = entry(chunk, index), entry.key == key {
            chunks[chunk][index].value = value
            return
        }
        count += 1
        if chunk == chunks.count {
            // The key is above all others: append to the last chunk, so that ascending keys fill chunks whole.
            if let last = chunks.last, last.count < Self.maxChunkLength {
                chunk -= 1
                index = last.count
            } else {
                chunks.append([])
            }
        }
        chunks[chunk].insert((key, value), at: index)
        if chunks[chunk].count > Self.maxChunkLength { split(chunk) }
    }

    private mutating func split(_ chunk: Int) {
        let half = Self.maxChunkLength / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeSubrange(half...)
    }

    private mutating func remove(_ key: Key) {
        let (chunk, index) = position(of: key)
        guard let entry = entry(chunk, index), entry.key == key else { return }
        count -= 1
        chunks[chunk].remove(at: index)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}

extension Array {
    /// The first index at which the condition no longer holds; it must hold for a prefix and fail from there on.
    fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
