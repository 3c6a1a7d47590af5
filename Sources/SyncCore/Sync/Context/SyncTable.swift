// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The local face of one table: reads and writes the store, and queues every change for the next push.
///
/// Each change writes the item and its operation in one transaction; when the call returns, both are durable. No
/// call waits for the network.
public struct SyncTable: Sendable {
    /// The table's name.
    public let name: String
    let context: SyncContext

    /// A query for all items of the table, to be narrowed.
    public var query: TableQuery { TableQuery(name) }

    // MARK: Write

    /// Adds an item.
    ///
    /// - Parameter fields: the declared columns' values; under `id`, the item's id as text. Without one a
    ///   time-ordered UUID is made.
    /// - Returns: the item as it is stored.
    /// - Throws: ``SyncError/Code/itemAlreadyExists``, ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/invalidItem``, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    ///   Nothing is stored then.
    @discardableResult
    public func insert(_ fields: [String: ItemValue]) async throws -> Item {
        var fields = fields
        let id = try context.environment.itemID(fields.removeValue(forKey: "id"))
        return try await change(id: id, fields: fields) { write, fields in
            try write.insert(id: id, fields: fields)
        }
    }

    /// Puts the item in place of the stored one of its id: fields that it lacks are removed.
    ///
    /// If the item was read before a change came from the server, the version it was read at is kept, so that
    /// the push reports a conflict instead of overwriting that change.
    ///
    /// - Returns: the item as it is stored.
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed then.
    @discardableResult
    public func replace(_ item: Item) async throws -> Item {
        let version = item.system.version
        return try await change(id: item.id, fields: item.fields) { write, fields in
            try write.replace(id: item.id, fields: fields, madeOn: version)
        }
    }

    /// Changes some fields of the item of that id; the others stay as they are. The item's own id may be among the
    /// fields.
    ///
    /// - Returns: the item as it is stored.
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed then.
    @discardableResult
    public func update(id: String, _ fields: [String: ItemValue]) async throws -> Item {
        try await change(id: id, fields: fields) { write, fields in
            try write.change(id: id, fields: fields)
        }
    }

    /// Deletes the item of that id.
    ///
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed then.
    public func delete(id: String) async throws {
        try await change(id: id, fields: [:]) { write, _ in try write.delete(id: id, madeOn: nil) }
    }

    /// Deletes the item, as the app's copy of it has it: see ``replace(_:)`` for copies that are out of date.
    ///
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed then.
    public func delete(_ item: Item) async throws {
        let version = item.system.version
        try await change(id: item.id, fields: [:]) { write, _ in
            try write.delete(id: item.id, madeOn: version)
        }
    }

    // MARK: Read

    /// The item of that id, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func item(id: String) async throws -> Item? {
        let name = try context.definition(of: name).name
        return try await context.read { try $0.item(id: id, in: name) }
    }

    /// The items that match the query, and their total count if it asks for that.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported``, ``SyncError/Code/invalidParameter``,
    ///   ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func items(matching query: TableQuery) async throws -> QueryResult {
        try context.validate(query, on: name)
        return try await context.read { try $0.items(matching: query) }
    }

    /// All items of the table, in byte order of their ids.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func items() async throws -> [Item] {
        try await items(matching: query).items
    }

    // MARK: Sync

    /// Fetches the server's rows of this table into the store: see ``SyncContext/pull(_:queryID:settings:)``.
    ///
    /// - Parameters:
    ///   - query: a query of this table; `nil` is all rows.
    ///   - queryID: the name of an incremental pull; `nil` fetches every matching row.
    ///   - settings: how to pull.
    /// - Throws: the errors of ``SyncContext/pull(_:queryID:settings:)``; ``SyncError/Code/invalidParameter`` for a query
    ///   of another table.
    @discardableResult
    public func pull(
        _ query: TableQuery? = nil, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await context.pull(try own(query), queryID: queryID, settings: settings)
    }

    /// Removes local items of this table without telling the server: see
    /// ``SyncContext/purge(_:pending:keepingDeltaTokens:)``.
    ///
    /// - Parameters:
    ///   - query: a query of this table; `nil` removes all items.
    ///   - pending: what to do about pending operations of the table.
    ///   - keepingDeltaTokens: whether later incremental pulls continue where they were.
    /// - Throws: the errors of ``SyncContext/purge(_:pending:keepingDeltaTokens:)``; ``SyncError/Code/invalidParameter``
    ///   for a query of another table. Nothing is removed then.
    public func purge(
        _ query: TableQuery? = nil, pending: SyncContext.PurgePolicy = .push, keepingDeltaTokens: Bool = false
    ) async throws {
        try await context.purge(try own(query), pending: pending, keepingDeltaTokens: keepingDeltaTokens)
    }

    private func own(_ query: TableQuery?) throws(SyncError) -> TableQuery {
        guard let query else { return self.query }
        try query.require(table: name)
        return query
    }

    // MARK: Checks

    private func change<T: Sendable>(
        id: String, fields: [String: ItemValue],
        _ body: @escaping @Sendable (LocalWrite, [String: ItemValue]) throws -> T
    ) async throws -> T {
        try ItemID.validate(id)
        let definition = try context.definition(of: name)
        let normalized = try definition.normalizedForWriting(fields, of: id)
        let (inFlight, now) = (context.inFlight, context.environment.now())
        let isShared = context.isStoreShared
        return try await context.write { transaction in
            let write = LocalWrite(
                transaction: transaction, definition: definition, inFlight: inFlight.all, now: now,
                mayAttemptsBeInFlight: isShared)
            return try body(write, normalized)
        }
    }
}

extension SyncContext {
    /// Checks a query that is to run on that table.
    func validate(_ query: TableQuery, on table: String) throws(SyncError) {
        try query.require(table: table)
        try query.validate(against: try definition(of: table))
    }
}

extension TableQuery {
    fileprivate func require(table name: String) throws(SyncError) {
        guard table == name else {
            throw .invalidParameter("A query of '\(table)' cannot be run on '\(name)'.")
        }
    }
}
