// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A local table: reads and writes the store, and adds an operation to the queue for every insert, every delete, and every
/// update that changes a synced column.
///
/// A change writes the item and its operation in one transaction; when the call returns, both are as durable as the store: see
/// ``StoreCapabilities/isDurable``. No local call waits for the network.
public struct SyncTable: Sendable {
    /// The table's name.
    public let name: String
    let context: SyncContext

    /// A query for all items of the table.
    public var query: TableQuery { TableQuery(name) }

    // MARK: Write

    /// Adds an item.
    ///
    /// - Parameter fields: the values of declared columns, and optionally the item's id as text under `id`. Without an id,
    ///   a time-ordered UUID is generated.
    /// - Returns: the stored item.
    /// - Throws: ``SyncError/Code/itemAlreadyExists``, ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/invalidItem``, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``;
    ///   ``SyncError/Code/invalidOperation`` while a change of the item is pending whose row the app's own database has lost.
    ///   Nothing is stored when the call throws.
    @discardableResult
    public func insert(_ fields: [String: ItemValue]) async throws -> Item {
        var fields = fields
        let id = try context.environment.itemID(fields.removeValue(forKey: "id"))
        return try await change(id: id, fields: ItemFields(fields)) { write, fields in
            try write.insert(id: id, fields: fields)
        }
    }

    /// Replaces the stored item of its id: fields that are missing in the item are removed.
    ///
    /// If the server's row has changed since the item was read, the push reports a conflict instead of overwriting that
    /// change, because the operation keeps the version of the item. An item without a version, such as a copy from before the
    /// first push, replaces the stored item as it is now.
    ///
    /// - Returns: the stored item.
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed when the
    ///   call throws.
    @discardableResult
    public func replace(_ item: Item) async throws -> Item {
        let copy = item.system
        return try await change(id: item.id, fields: item.content) { write, fields in
            try write.replace(id: item.id, fields: fields, madeOn: copy)
        }
    }

    /// Changes some fields of the item of that id, and keeps the others. The fields can contain the item's id.
    ///
    /// - Returns: the stored item.
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed when the
    ///   call throws.
    @discardableResult
    public func update(id: String, _ fields: [String: ItemValue]) async throws -> Item {
        try await change(id: id, fields: ItemFields(fields)) { write, fields in
            try write.change(id: id, fields: fields)
        }
    }

    /// Deletes the item of that id.
    ///
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed when the
    ///   call throws.
    public func delete(id: String) async throws {
        try await change(id: id, fields: [:]) { write, _ in try write.delete(id: id, madeOn: nil) }
    }

    /// Deletes the item in the version of the app's copy: see ``replace(_:)`` for outdated copies.
    ///
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed when the
    ///   call throws.
    public func delete(_ item: Item) async throws {
        let copy = item.system
        try await change(id: item.id, fields: [:]) { write, _ in
            try write.delete(id: item.id, madeOn: copy)
        }
    }

    // MARK: Read

    /// Returns the item of that id, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func item(id: String) async throws -> Item? {
        let name = try context.definition(of: name).name
        return try await context.read { try $0.item(id: id, in: name) }
    }

    /// Returns the items that match the query, and their total count if the query includes it.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported``, ``SyncError/Code/invalidParameter``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func items(matching query: TableQuery) async throws -> QueryResult {
        try context.validate(query, on: name)
        return try await context.read { try $0.items(matching: query) }
    }

    /// Returns all items of the table, in byte order of their ids.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func items() async throws -> [Item] {
        try await items(matching: query).items
    }

    // MARK: Sync

    /// Fetches the server's rows of this table into the store: see ``SyncContext/pull(_:queryID:settings:)``.
    ///
    /// - Parameters:
    ///   - query: a query of this table; `nil` fetches all rows.
    ///   - queryID: the ID of an incremental pull; `nil` fetches every matching row.
    ///   - settings: the settings of the pull.
    /// - Throws: the errors of ``SyncContext/pull(_:queryID:settings:)``; ``SyncError/Code/invalidParameter`` for a query
    ///   of another table.
    @discardableResult
    public func pull(
        _ query: TableQuery? = nil, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await context.pull(try validated(query), queryID: queryID, settings: settings)
    }

    /// Removes local items of this table without deleting them on the server: see
    /// ``SyncContext/purge(_:pending:keepingDeltaTokens:)``.
    ///
    /// - Parameters:
    ///   - query: a query of this table; `nil` removes all items.
    ///   - pending: whether pending operations of the table are pushed or discarded, or refuse the purge.
    ///   - keepingDeltaTokens: whether later incremental pulls continue from their delta tokens.
    /// - Throws: the errors of ``SyncContext/purge(_:pending:keepingDeltaTokens:)``; ``SyncError/Code/invalidParameter``
    ///   for a query of another table. Nothing is removed when the call throws.
    public func purge(
        _ query: TableQuery? = nil, pending: SyncContext.PurgePolicy = .push, keepingDeltaTokens: Bool = false
    ) async throws {
        try await context.purge(
            try validated(query), pending: pending, keepingDeltaTokens: keepingDeltaTokens)
    }

    private func validated(_ query: TableQuery?) throws(SyncError) -> TableQuery {
        guard let query else { return self.query }
        try query.require(table: name)
        return query
    }

    // MARK: Helpers

    private func change<T: Sendable>(
        id: String, fields: ItemFields,
        _ body: @escaping @Sendable (LocalWrite, ItemFields) throws -> T
    ) async throws -> T {
        try ItemID.validate(id, in: name)
        let definition = try context.definition(of: name)
        let normalized = try definition.normalizedForWriting(fields, of: id)
        let (inFlight, now) = (context.inFlight, context.environment.now())
        let isShared = context.isStoreShared
        return try await context.writeLocally { transaction in
            let write = LocalWrite(
                transaction: transaction, definition: definition,
                inFlight: inFlight.snapshot(isShared: isShared), now: now)
            return try body(write, normalized)
        }
    }
}

extension SyncContext {
    /// Validates a query for that table.
    func validate(_ query: TableQuery, on table: String) throws(SyncError) {
        try query.require(table: table)
        try query.validate(against: try definition(of: table))
    }
}
