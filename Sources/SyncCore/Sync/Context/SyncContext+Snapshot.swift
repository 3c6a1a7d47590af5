// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Runs the body on one snapshot of the store.
    ///
    /// - Throws: what the body throws; ``SyncError/Code/storeFailure``.
    package func withSnapshot<T: Sendable>(
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> T
    ) async throws -> T {
        try await BodyError.unwrapping {
            try await read { snapshot in try BodyError.wrapping { try body(snapshot) } }
        }
    }

    /// Returns the result of a query at once, read on the caller's thread, and what the body reads of the same snapshot.
    ///
    /// Returns `nil` if the read would wait for a write, or fails. An asynchronous read says why.
    package func immediateResult<Value>(
        of query: TableQuery, _ body: (any StoreSnapshot, QueryResult) throws -> Value
    ) -> (QueryResult, Value)? {
        let store = store.dataSource
        guard store.capabilities.hasConcurrentReaders, !commits.isFinished,
            (try? validate(query, on: query.table)) != nil
        else { return nil }
        return try? store.read { [user] snapshot in
            try user.require(in: snapshot)
            let tables = store.catalog.tables.map(\.name)
            guard try PurgeStamp.isComplete(for: tables, in: snapshot) else { return nil }
            let result = try snapshot.items(matching: query)
            return (result, try body(snapshot, result))
        }
    }

    /// Logs rows that could not be read, and reports them to ``SyncSettings/onEvent``, each once.
    package func recordUnreadable(_ rows: [UnreadableRow]) {
        for row in rows where loggedRows.insert(row) {
            emit(.rowUnreadable(table: row.table), SyncLog.Details(itemID: row.id, column: row.column))
        }
    }

    /// The tables of the store.
    package var catalog: TableCatalog { store.dataSource.catalog }
}
