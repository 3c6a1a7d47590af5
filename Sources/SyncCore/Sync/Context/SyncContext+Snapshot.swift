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

    /// Logs a row that could not be read, and reports it to ``SyncSettings/onEvent``.
    package func recordUnreadable(_ row: UnreadableRow) {
        emit(.rowUnreadable(table: row.table), SyncLog.Details(itemID: row.id, column: row.column))
    }

    /// The tables of the store.
    package var catalog: TableCatalog { store.dataSource.catalog }
}
