// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Reads items on one state of the store: the typed reads of ``LocalReader`` and `LocalBatch`.
protocol ItemReading {
    func item(id: String, in table: String) throws -> Item?
    func items(matching query: TableQuery) throws -> QueryResult
    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int?
    func report(_ rows: [UnreadableRow])
}

extension ItemReading {
    /// Returns the item and its model; `nil` if there is no item.
    func find<Model: SyncModel>(_ id: SyncID<Model>) throws -> (item: Item, model: Model)? {
        try withModelErrors(Model.self) {
            guard let item = try item(id: id.text, in: Model.tableName) else { return nil }
            return (item, try Model.schema.decode(item))
        }
    }

    func readPage<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> ModelPage<Model> {
        let query = try query.tableQuery()
        let page = try withModelErrors(Model.self) {
            try ModelPage<Model> { body in
                try forEachRow(matching: query, columns: Model.schema.columnNames, body)
            }
        }
        if !page.unreadable.isEmpty { report(page.unreadable) }
        return page
    }

    func readCount<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> Int {
        let query = try query.tableQuery()
        // No items are needed. A negative limit stays, which is an error as for other reads.
        let limit = min(0, query.limit ?? 0)
        let result = try withModelErrors(Model.self) {
            try items(matching: query.includingTotalCount().limit(limit))
        }
        let count = max(0, (result.totalCount ?? 0) - query.offset)
        return min(count, query.limit ?? count)
    }
}

/// Runs the body, and names the model in its errors.
func withModelErrors<T>(_ model: any SyncModel.Type, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as UnreadableItem {
        throw error.syncError
    } catch let error as SyncError {
        throw error.naming(model)
    }
}
