// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Keys kept in order in one array.
///
/// Nearly every key arrives at the end, because time and sequence numbers only grow; the others cost one move of
/// memory, which is cheaper than a tree up to some hundred thousand keys.
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

    /// The position of the first key for which the condition holds; it must hold for all keys after that one too.
    func firstIndex(where holds: (Key) -> Bool) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if holds(keys[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
