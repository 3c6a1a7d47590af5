// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The result of an observed query, which decides without reading whether a commit changes it.
package struct ResultWindow: Sendable {
    package let query: TableQuery
    let result: QueryResult
    private let itemsByID: [UTF8Text: Item]
    /// Whether the observer follows system properties, or the query asks for them; otherwise a change of them alone does
    /// not change the result.
    private let includesSystemProperties: Bool

    package init(_ query: TableQuery, _ result: QueryResult, followsSystemProperties: Bool = false) {
        self.query = query
        self.result = result
        itemsByID = Dictionary(
            result.items.map { (UTF8Text($0.id), $0) }, uniquingKeysWith: { first, _ in first })
        var columns = query.filter?.columns ?? []
        for ordering in query.orderings { columns.formUnion(ordering.expression.columns) }
        columns.formUnion(query.selection)
        includesSystemProperties =
            followsSystemProperties || !columns.isDisjoint(with: SystemProperties.names)
    }

    /// Returns whether the change may change the result.
    package func isAffected(by change: TableChange) -> Bool {
        switch change {
        case .everything: true
        // Reading a short result again costs less than matching many rows.
        case .rows(let rows): rows.count > 10 * (result.items.count + 10) || rows.contains(where: isAffected)
        }
    }

    private func isAffected(by row: ChangedRow) -> Bool {
        if dependsOnRowsOutside { return true }
        if let item = itemsByID[row.id] {
            guard let newItem = row.item else { return true }
            return !isSame(query.selecting(newItem), item) || isMovedByUnselectedColumns
        }
        guard let item = row.item, query.filter?.matches(item) ?? true else { return false }
        guard isFull, query.selection.isEmpty else { return true }
        guard let last = result.items.last else { return false }
        return query.precedes(item, last)
    }

    /// Whether rows before the first or after the last item change the result: they are skipped, or counted.
    private var dependsOnRowsOutside: Bool { query.offset > 0 || (isFull && query.includesTotalCount) }

    private var isFull: Bool { query.limit.map { result.items.count >= $0 } ?? false }

    /// Whether a change of a column that the result does not have can move or remove an item.
    private var isMovedByUnselectedColumns: Bool {
        !query.selection.isEmpty && (query.filter != nil || !query.orderings.isEmpty)
    }

    /// Compares a later result with this one, as the app sees them.
    func difference(to other: QueryResult) -> ResultDifference {
        var changed: Set<UTF8Text> = []
        for item in other.items {
            let id = UTF8Text(item.id)
            if let old = itemsByID[id], !isSame(old, item) { changed.insert(id) }
        }
        let isSame =
            changed.isEmpty && result.totalCount == other.totalCount
            && result.items.count == other.items.count
            && zip(result.items, other.items).allSatisfy { UTF8Text($0.id) == UTF8Text($1.id) }
        return isSame ? .none : .changed(changed)
    }

    /// Whether two states of an item are the same for the app.
    private func isSame(_ left: Item, _ right: Item) -> Bool {
        left.content == right.content && (!includesSystemProperties || left.system == right.system)
    }
}

/// How a result differs from the previous one.
package enum ResultDifference: Sendable, Equatable {
    /// There is no previous one.
    case first
    case none
    /// The ids of the items that both results have, in different states. Items can also be added, removed or moved.
    case changed(Set<UTF8Text>)
}
