// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// Returns the elements that form cycles of references, and those between two cycles: removes, until nothing changes, each element
    /// that refers to no remaining one, or to which no remaining one refers.
    package func cyclic(_ refers: (_ from: Element, _ to: Element) -> Bool) -> [Element] {
        var remaining = self
        while true {
            let next = remaining.filter { element in
                remaining.contains { refers(element, $0) } && remaining.contains { refers($0, element) }
            }
            if next.count == remaining.count { return remaining }
            remaining = next
        }
    }
}
