// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Removes rows of a table together with the rows that a foreign key of the app's database removes with them. The context
/// has not removed these: they have to be pulled again.
struct CascadedRemoval: Sendable {
    private let table: String
    /// The children, their children and so on; empty if the store is not in a database of the app.
    private let descendants: [String]
    private let mayCascade: Bool

    init(of table: String, in store: any SyncContextDataSource) {
        self.table = table
        mayCascade = (store as? any StoreWithTriggers)?.isInAppDatabase ?? false
        descendants = mayCascade ? store.catalog.descendants(of: table) : []
    }

    /// Removes rows, and the delta tokens of each child table that loses rows.
    ///
    /// - Parameters:
    ///   - tables: receives the child tables, if an automatic sync has to pull them.
    ///   - remove: removes rows of the table, and returns how many.
    /// - Returns: whether a foreign key of the table to itself has removed further rows.
    func remove(
        in transaction: any StoreTransaction, tables: TablesToPull? = nil, _ remove: () throws -> Int
    ) throws -> Bool {
        guard mayCascade else {
            _ = try remove()
            return false
        }
        let countBefore = try transaction.itemCount(in: table)
        let descendantCounts = try descendants.map(transaction.itemCount)
        let removed = try remove()
        for (child, count) in zip(descendants, descendantCounts)
        where try transaction.itemCount(in: child) != count {
            try transaction.recordRowToPull(in: child, tables)
        }
        return try transaction.itemCount(in: table) < countBefore - removed
    }

    /// Records that a row is stored again which the app had deleted: the rows that a foreign key has removed with it have to be
    /// pulled again.
    func recordRestoredRow(in transaction: any StoreTransaction, _ tables: TablesToPull?) throws {
        guard mayCascade else { return }
        for table in [table] + descendants { try transaction.recordRowToPull(in: table, tables) }
    }
}

extension StoreSnapshot {
    fileprivate func itemCount(in table: String) throws -> Int {
        try items(matching: TableQuery(table).limit(0).includingTotalCount()).totalCount ?? 0
    }
}
