// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) public import SyncCore

extension SyncContext {
    /// Reads several tables on one snapshot: no write of others is between two reads.
    ///
    /// ```swift
    /// let (todos, lists) = try await context.read { (try $0.fetch(Todo.all), try $0.fetch(TodoList.all)) }
    /// ```
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``SyncError/Code/storeFailure``.
    public func read<T: Sendable>(
        _ body: @escaping @Sendable (LocalReader) throws -> T
    ) async throws -> T {
        try await withSnapshot { snapshot in
            try body(LocalReader(snapshot: snapshot, context: self))
        }
    }
}

/// The local tables on one snapshot: see `SyncContext.read`.
public struct LocalReader {
    let snapshot: any StoreSnapshot
    let context: SyncContext

    /// Returns the model of that id, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` if the item is unreadable.
    public func get<Model: SyncModel>(_ id: SyncID<Model>) throws -> Model? { try find(id)?.model }

    /// Returns the models that match the query, without unreadable items.
    public func fetch<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> [Model] {
        try readPage(query).models
    }

    /// Returns the models that match the query, the total count, and the unreadable items.
    public func page<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> ModelPage<Model> {
        try readPage(query)
    }

    /// Returns the number of items that match the query, within its offset and limit.
    public func count<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> Int { try readCount(query) }

    /// Returns the item of that id, or `nil`.
    public func item(id: String, in table: String) throws -> Item? {
        try snapshot.item(id: id, in: try context.catalog.table(named: table).name)
    }

    /// Returns the items that match the query.
    public func items(matching query: TableQuery) throws -> QueryResult {
        try query.validate(against: try context.catalog.table(named: query.table))
        return try snapshot.items(matching: query)
    }
}

extension LocalReader: ItemReading {
    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        try query.validate(against: try context.catalog.table(named: query.table))
        return try snapshot.forEachRow(matching: query, columns: columns, body)
    }

    func report(_ rows: [UnreadableRow]) { context.recordUnreadable(rows) }
}
