// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The window of a query over matching items, which arrive in any order: keeps only items that the result may have.
@usableFromInline package struct QueryWindow {
    private let query: TableQuery
    /// The end of the window: the result is among the first items up to here, in the query's order.
    private let end: Int
    /// At most twice as many as ``end``.
    private var items: [Item] = []
    private var count = 0
    /// The values by which the last item was ordered when the items were last cut to ``end``, and its id; `nil` before.
    private var bound: (values: [ItemValue], id: String)?

    /// Makes the window of a query.
    @usableFromInline package init(_ query: TableQuery) {
        self.query = query
        end = query.window.upperBound
    }

    /// Whether at least ``end`` items are kept. Items that are added later may still precede them.
    @usableFromInline package var isFilled: Bool { items.count >= end }

    /// Adds an item that matches the query's filter.
    @usableFromInline package mutating func add(_ item: Item) {
        count += 1
        guard end > 0, precedesBound(item) else { return }
        items.append(item)
        if items.count / 2 >= end { removeItemsAfterEnd() }
    }

    /// The result, with the items in the query's order.
    @usableFromInline package var result: QueryResult {
        var window = items.sorted(by: query.precedes)
        if query.offset > 0 || window.count > end {
            window = Array(window.dropFirst(query.offset).prefix(query.limit ?? .max))
        }
        return query.result(of: window, matchCount: query.includesTotalCount ? count : nil)
    }

    private func precedesBound(_ item: Item) -> Bool {
        guard let bound else { return true }
        return query.precedes(item, id: bound.id) { bound.values[$0] }
    }

    private mutating func removeItemsAfterEnd() {
        items.sort(by: query.precedes)
        items.removeSubrange(end...)
        let last = items[end - 1]
        bound = (query.orderings.map { $0.expression.value(for: last) }, last.id)
    }
}
