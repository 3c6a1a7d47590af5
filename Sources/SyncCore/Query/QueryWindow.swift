// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The window of a query over matching items, which arrive in any order: keeps only items that the result may have.
@usableFromInline package struct QueryWindow {
    private let query: TableQuery
    /// The result is among so many first items, in the query's order.
    private let end: Int
    private let arrivesInOrder: Bool
    /// At most twice as many as ``end``.
    private var items: [Item] = []
    private var count = 0
    /// The values by which the last of the first ``end`` items is ordered, and its id, once there are so many.
    private var bound: (values: [ItemValue], id: String)?

    /// Makes the window of a query.
    ///
    /// - Parameter arrivesInOrder: whether the items are added in the query's order.
    @usableFromInline package init(_ query: TableQuery, arrivesInOrder: Bool = false) {
        self.query = query
        self.arrivesInOrder = arrivesInOrder
        end =
            query.limit.map { query.offset.addingReportingOverflow($0) }
            .map { $0.overflow ? .max : $0.partialValue } ?? .max
    }

    /// Whether the items up to the end of the window have been added. Unless they arrive in order, others may precede them.
    @usableFromInline package var isFilled: Bool { items.count >= end }

    /// Adds an item that matches the query's filter.
    @usableFromInline package mutating func add(_ item: Item) {
        count += 1
        guard end > 0, arrivesInOrder ? !isFilled : precedesBound(item) else { return }
        items.append(item)
        if !arrivesInOrder, items.count / 2 >= end { removeItemsAfterEnd() }
    }

    /// Counts an item that matches the query's filter and is behind the end of the window.
    @usableFromInline package mutating func addItemAfterEnd() { count += 1 }

    /// The result, with the items in the query's order.
    @usableFromInline package var result: QueryResult {
        var window = arrivesInOrder ? items : items.sorted(by: query.precedes)
        if query.offset > 0 || window.count > end {
            window = Array(window.dropFirst(query.offset).prefix(query.limit ?? .max))
        }
        if !query.selection.isEmpty { window = window.map(query.selecting) }
        return QueryResult(items: window, totalCount: query.includesTotalCount ? count : nil)
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
