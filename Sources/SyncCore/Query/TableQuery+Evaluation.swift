// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableQuery {
    // Inlinable, so that it is specialized for a store's sequence of items.

    /// Runs the query on those items. This is the reference implementation for every store.
    ///
    /// - Parameter items: all items of the table, in any order.
    @_spi(StoreAuthor) @inlinable public func apply(to items: some Sequence<Item>) -> QueryResult {
        let matching = items.filter { filter?.matches($0) ?? true }.sorted(by: precedes)
        let window = matching.dropFirst(offset).prefix(limit ?? .max)
        return QueryResult(
            items: window.map(selecting), totalCount: includesTotalCount ? matching.count : nil)
    }

    /// Whether the first item precedes the second in the query's order.
    @_spi(StoreAuthor) public func precedes(_ left: Item, _ right: Item) -> Bool {
        precedes(left, id: right.id) { orderings[$0].expression.value(for: right) }
    }

    /// Whether the item precedes another one, of which the id and the value of each ordering are given.
    func precedes(_ item: Item, id: String, value: (_ ordering: Int) -> ItemValue) -> Bool {
        for (index, ordering) in orderings.enumerated() {
            switch ordering.order(ordering.expression.value(for: item), value(index)) {
            case .ascending: return true
            case .descending: return false
            case .same: break
            }
        }
        return item.id.precedesInBytes(id)
    }

    /// The result of items in the query's order and window, with the selected fields only.
    @usableFromInline func result(of items: [Item], matchCount: Int?) -> QueryResult {
        QueryResult(items: selection.isEmpty ? items : items.map(selecting), totalCount: matchCount)
    }

    /// Returns the item with the selected fields only.
    @_spi(StoreAuthor) public func selecting(_ item: Item) -> Item {
        guard !selection.isEmpty else { return item }
        var selected = item
        selected.content = item.content.filter { name, _ in selection.contains(name) }
        return selected
    }
}

extension Ordering {
    /// Compares the values of two items. Null precedes all values.
    fileprivate func order(_ first: ItemValue, _ second: ItemValue) -> ValueOrder {
        let order: ValueOrder =
            switch (first.isNull, second.isNull) {
            case (true, true): .same
            case (true, false): .ascending
            case (false, true): .descending
            case (false, false): first.sortOrder(to: second)
            }
        return isDescending ? order.reversed : order
    }
}

extension ItemValue {
    /// Orders dates of one instant by their fraction digits, so that the order does not depend on the store.
    fileprivate func sortOrder(to other: ItemValue) -> ValueOrder {
        if case .date(let first) = self, case .date(let second) = other { return ValueOrder(first, second) }
        return order(comparedTo: other) ?? .same
    }
}
