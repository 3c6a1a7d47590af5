// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The result of an observed query, which decides without reading whether a commit changes it.
struct ResultWindow {
    let query: TableQuery
    let result: QueryResult
    private let itemsByID: [UTF8Text: Item]
    /// Whether the query asks for system properties; otherwise a change of them alone does not change the result.
    private let includesSystemProperties: Bool

    init(_ query: TableQuery, _ result: QueryResult) {
        self.query = query
        self.result = result
        itemsByID = Dictionary(
            result.items.map { (UTF8Text($0.id), $0) }, uniquingKeysWith: { first, _ in first })
        var columns = query.filter?.columns ?? []
        for ordering in query.orderings { columns.formUnion(ordering.expression.columns) }
        columns.formUnion(query.selection)
        includesSystemProperties = !columns.isDisjoint(with: SystemProperties.names)
    }

    /// Returns whether the change may change the result.
    func isAffected(by change: TableChange) -> Bool {
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

    /// Returns whether a later result is the same for the app.
    func isSame(_ other: QueryResult) -> Bool {
        result.totalCount == other.totalCount && result.items.count == other.items.count
            && zip(result.items, other.items).allSatisfy(isSame)
    }

    private func isSame(_ left: Item, _ right: Item) -> Bool {
        UTF8Text(left.id) == UTF8Text(right.id) && left.fields == right.fields
            && (!includesSystemProperties || left.system == right.system)
    }
}
