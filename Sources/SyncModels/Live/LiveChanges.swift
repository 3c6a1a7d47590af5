// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// What differs between two pages of a live query.
///
/// The earlier page becomes the later one in this order: remove ``removed`` and the old indices of ``moved``, then insert
/// ``inserted`` and the new indices of ``moved`` in ascending order, then replace ``updated``.
public struct LiveChanges: Sendable, Hashable {
    /// The indices in the earlier page of rows that the later one does not have, ascending.
    public let removed: [Int]
    /// The indices in the later page of rows that the earlier one does not have, ascending.
    public let inserted: [Int]
    /// The indices in the later page of rows of both pages that have changed, ascending. They can have moved too.
    public let updated: [Int]
    /// Rows of both pages whose relative order has changed, ascending by their new index.
    public let moved: [Move]

    /// A row that has moved.
    public struct Move: Sendable, Hashable {
        /// The index in the earlier page.
        public let from: Int
        /// The index in the later page.
        public let to: Int
    }

    /// Compares the ids of two pages.
    ///
    /// - Parameter changed: the ids of the rows of both pages that have changed.
    init(from old: [UTF8Text], to new: [UTF8Text], changed: Set<UTF8Text>) {
        let oldIndices = Dictionary(
            old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let newIDs = Set(new)
        removed = old.indices.filter { !newIDs.contains(old[$0]) }
        var (inserted, updated, common): ([Int], [Int], [Move]) = ([], [], [])
        for (index, id) in new.enumerated() {
            guard let oldIndex = oldIndices[id] else {
                inserted.append(index)
                continue
            }
            common.append(Move(from: oldIndex, to: index))
            if changed.contains(id) { updated.append(index) }
        }
        (self.inserted, self.updated) = (inserted, updated)
        let unmoved = Self.longestIncreasingSubsequence(of: common.map(\.from))
        moved = common.indices.filter { !unmoved.contains($0) }.map { common[$0] }
    }

    /// Returns the indices of a longest increasing subsequence: the rows that need no move.
    private static func longestIncreasingSubsequence(of numbers: [Int]) -> Set<Int> {
        /// The index of the smallest last number of the subsequences of each length, by length minus one.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var subsequence: Set<Int> = []
        var next = ends.last ?? -1
        while next >= 0 {
            subsequence.insert(next)
            next = previous[next]
        }
        return subsequence
    }
}
