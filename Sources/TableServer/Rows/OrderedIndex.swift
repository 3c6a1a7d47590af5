// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A sorted array of keys.
///
/// Most keys are appended, because times and sequence numbers grow. Another key costs one `memmove`, which is cheaper
/// than a tree up to some hundred thousand keys.
struct OrderedIndex<Key: Comparable & Sendable>: Sendable {
    private(set) var keys: [Key] = []

    mutating func insert(_ key: Key) {
        if let last = keys.last, !(last < key) {
            keys.insert(key, at: firstIndex { !($0 < key) })
        } else {
            keys.append(key)
        }
    }

    mutating func remove(_ key: Key) {
        let index = firstIndex { !($0 < key) }
        if index < keys.count, keys[index] == key { keys.remove(at: index) }
    }

    /// Returns the index of the first key that satisfies the predicate, by binary search: all later keys must satisfy
    /// it too.
    func firstIndex(where predicate: (Key) -> Bool) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if predicate(keys[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
