// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A map sorted by its keys, with cheap copies as snapshots.
///
/// It is a copy-on-write B-tree: a copy shares the whole tree, and a change copies only the nodes on the path to the
/// changed entry.
struct SortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
    /// A key with its value, shared by all copies of the map that contain it.
    final class Entry: Sendable {
        let key: Key
        let value: Value

        init(_ key: Key, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    private var root = Node()
    private(set) var count = 0

    func entry(of key: Key) -> Entry? { root.entry(of: key) }

    subscript(key: Key) -> Value? {
        get { entry(of: key)?.value }
        set { if let newValue { updateValue(newValue, for: key) } else { removeValue(for: key) } }
    }

    /// The entries whose keys are not less than the given one, in order; all entries for `nil`.
    func entries(from key: Key?) -> [Entry] {
        var entries: [Entry] = []
        forEach(from: key) { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    /// Calls the body with each entry whose key is not less than the given one, in order, until it returns false.
    func forEach(from key: Key?, _ body: (Entry) throws -> Bool) rethrows {
        _ = try root.forEach(from: key, body)
    }

    /// All values, in the order of their keys.
    var values: [Value] { entries(from: nil).map(\.value) }

    /// Inserts or replaces the value, and returns the replaced one.
    @discardableResult mutating func updateValue(_ value: Value, for key: Key) -> Value? {
        var replaced: Entry?
        if let sibling = root.insert(Entry(key, value), replaced: &replaced) {
            root = Node(branches: [Branch(root, from: key), Branch(sibling, from: sibling.firstKey)])
        }
        if replaced == nil { count += 1 }
        return replaced?.value
    }

    /// Removes the value, and returns it.
    @discardableResult mutating func removeValue(for key: Key) -> Value? {
        guard let removed = root.entry(of: key) else { return nil }
        root.remove(key)
        count -= 1
        if root.branches.count == 1 { root = root.branches[0].node }
        return removed.value
    }
}

extension SortedMap {
    /// A child node.
    fileprivate struct Branch: Sendable {
        /// At most the node's first key, and greater than all keys of the branch before; unused in the first branch.
        let firstKey: Key?
        var node: Node

        init(_ node: Node, from firstKey: Key?) {
            self.firstKey = firstKey
            self.node = node
        }
    }

    /// A leaf has entries; an inner node has branches.
    fileprivate struct Node: Sendable {
        var entries: [Entry] = []
        var branches: [Branch] = []

        private static var maxCount: Int { 32 }

        var firstKey: Key? { branches.first?.firstKey ?? entries.first?.key }

        func entry(of key: Key) -> Entry? {
            guard branches.isEmpty else { return branches[branch(of: key)].node.entry(of: key) }
            let index = index(of: key)
            return index < entries.count && entries[index].key == key ? entries[index] : nil
        }

        /// Returns the index of a leaf's first entry that is not less than the key.
        func index(of key: Key) -> Int { entries.partitionPoint { $0.key < key } }

        /// Returns the index of the branch whose range contains the key.
        func branch(of key: Key) -> Int {
            // `<=` would be called through a witness table.
            max(0, branches.partitionPoint { $0.firstKey.map { !(key < $0) } ?? true } - 1)
        }

        /// Returns false if the body has.
        func forEach(from key: Key?, _ body: (Entry) throws -> Bool) rethrows -> Bool {
            for index in (key.map(index) ?? 0)..<entries.count {
                guard try body(entries[index]) else { return false }
            }
            var key = key
            for index in (key.map(branch) ?? 0)..<branches.count {
                guard try branches[index].node.forEach(from: key, body) else { return false }
                // The branches behind it have greater keys.
                key = nil
            }
            return true
        }

        /// Inserts or replaces the entry.
        ///
        /// - Returns: the new right sibling, if the node was split.
        mutating func insert(_ entry: Entry, replaced: inout Entry?) -> Node? {
            guard branches.isEmpty else { return insertBelow(entry, replaced: &replaced) }
            let index = index(of: entry.key)
            if index < entries.count, entries[index].key == entry.key {
                replaced = entries[index]
                entries[index] = entry
                return nil
            }
            entries.insert(entry, at: index)
            guard entries.count > Self.maxCount else { return nil }
            // Assumes ascending insertion after an entry at the end: such keys fill nodes completely.
            let middle = index == Self.maxCount ? index : Self.maxCount / 2
            defer { entries.removeSubrange(middle...) }
            return Node(entries: Array(entries[middle...]))
        }

        private mutating func insertBelow(_ entry: Entry, replaced: inout Entry?) -> Node? {
            let index = branch(of: entry.key)
            guard let sibling = branches[index].node.insert(entry, replaced: &replaced) else { return nil }
            branches.insert(Branch(sibling, from: sibling.firstKey), at: index + 1)
            guard branches.count > Self.maxCount else { return nil }
            let middle = index + 1 == Self.maxCount ? index + 1 : Self.maxCount / 2
            defer { branches.removeSubrange(middle...) }
            return Node(branches: Array(branches[middle...]))
        }

        /// Removes the entry of the key, which must exist.
        mutating func remove(_ key: Key) {
            guard !branches.isEmpty else { return _ = entries.remove(at: index(of: key)) }
            let index = branch(of: key)
            branches[index].node.remove(key)
            if branches[index].node.isEmpty { branches.remove(at: index) }
        }

        private var isEmpty: Bool { entries.isEmpty && branches.isEmpty }
    }
}

extension Array {
    /// Returns the first index at which the condition fails; it must hold for all indices before and none after.
    fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
