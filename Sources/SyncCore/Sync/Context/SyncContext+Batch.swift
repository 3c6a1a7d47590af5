// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Makes several changes in one transaction: all of them are stored, or none.
    ///
    /// ```swift
    /// try await context.batch { local in
    ///     for text in lines { try local.insert(["text": .text(text)], in: "TodoItem") }
    /// }
    /// ```
    ///
    /// The batch is flushed to the disk once, and does not wait for the network.
    ///
    /// - Parameter body: makes the changes. It may run more than once, and only its last run is stored, so it should
    ///   change nothing else. If it throws, nothing is stored.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``SyncError/Code/storeFailure``.
    @discardableResult
    public func batch<T: Sendable>(
        _ body: @escaping @Sendable (LocalBatch) throws -> T
    ) async throws -> T {
        let (environment, inFlight, catalog) = (environment, inFlight, store.dataSource.catalog)
        let isShared = isStoreShared
        return try await BodyError.unwrapping {
            try await writeLocally { transaction in
                let batch = LocalBatch(
                    transaction: transaction, catalog: catalog,
                    inFlight: inFlight.snapshot(isShared: isShared), environment: environment)
                let value = try BodyError.wrapping { try body(batch) }
                try batch.throwFailure()
                return value
            }
        }
    }
}

/// The local tables inside one transaction: see ``SyncContext/batch(_:)``. Reads see the batch's own changes.
///
/// Each change is validated and queued as by ``SyncTable``. A refused change writes nothing: the body may catch its error,
/// and the other changes are stored. If the store fails in a change, for example because of a constraint of the app's own table,
/// the batch stores nothing, also when the body catches the error.
public struct LocalBatch {
    /// The first error of the store in a change, which may be half made.
    private final class Failure {
        var error: StoreError?
    }

    private let transaction: any StoreTransaction
    private let failure = Failure()
    private let catalog: TableCatalog
    private let inFlight: InFlightSnapshot
    private let environment: SyncEnvironment
    private let now: Timestamp

    init(
        transaction: any StoreTransaction, catalog: TableCatalog, inFlight: InFlightSnapshot,
        environment: SyncEnvironment
    ) {
        self.transaction = transaction
        self.catalog = catalog
        self.inFlight = inFlight
        self.environment = environment
        now = environment.now()
    }

    /// Inserts an item: see ``SyncTable/insert(_:)``.
    @discardableResult
    public func insert(_ fields: [String: ItemValue], in table: String) throws -> Item {
        let id = try environment.itemID(fields["id"])
        let write = try write(id, in: table)
        let normalized = try write.definition.normalizedForWriting(ItemFields(fields), skipsID: true)
        return try recordingFailure { try write.insert(id: id, fields: normalized) }
    }

    /// Replaces the stored item of the same id: see ``SyncTable/replace(_:)``.
    @discardableResult
    public func replace(_ item: Item, in table: String) throws -> Item {
        try replace(item, in: table, changing: nil)
    }

    /// Replaces the stored item of the same id.
    ///
    /// - Parameter original: the values that the changed fields had in the app's copy; `nil` if they are not known.
    @discardableResult
    package func replace(
        _ item: Item, in table: String, changing original: [String: ItemValue]?
    ) throws -> Item {
        let write = try write(item.id, in: table)
        let fields = try write.definition.normalizedForWriting(item.content, of: item.id)
        return try recordingFailure {
            try write.replace(id: item.id, fields: fields, madeOn: item.system, changing: original)
        }
    }

    /// Changes some fields of an item: see ``SyncTable/update(id:_:)``.
    @discardableResult
    public func update(id: String, _ fields: [String: ItemValue], in table: String) throws -> Item {
        let write = try write(id, in: table)
        let normalized = try write.definition.normalizedForWriting(ItemFields(fields), of: id)
        return try recordingFailure { try write.change(id: id, fields: normalized) }
    }

    /// Deletes an item: see ``SyncTable/delete(id:)``.
    public func delete(id: String, in table: String) throws {
        let write = try write(id, in: table)
        try recordingFailure { try write.delete(id: id, madeOn: nil) }
    }

    /// Returns the item of that id as it is now; `nil` when there is none.
    public func item(id: String, in table: String) throws -> Item? {
        try transaction.item(id: id, in: catalog.table(named: table).name)
    }

    /// Returns the items that match the query as they are now: see ``SyncTable/items(matching:)``.
    public func items(matching query: TableQuery) throws -> QueryResult {
        try query.validate(against: catalog.table(named: query.table))
        return try transaction.items(matching: query)
    }

    package func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        try query.validate(against: catalog.table(named: query.table))
        return try transaction.forEachRow(matching: query, columns: columns, body)
    }

    /// - Throws: the first error of the store in a change.
    func throwFailure() throws {
        if let error = failure.error { throw error }
    }

    private func recordingFailure<T>(_ change: () throws -> T) throws -> T {
        do {
            return try change()
        } catch let error as StoreError {
            failure.error = failure.error ?? error
            throw error
        }
    }

    private func write(_ id: String, in table: String) throws -> LocalWrite {
        try ItemID.validate(id, in: table)
        return LocalWrite(
            transaction: transaction, definition: try catalog.table(named: table), inFlight: inFlight,
            now: now)
    }
}

extension SyncEnvironment {
    /// Returns the id among the fields of a new item, or a new id.
    func itemID(_ value: ItemValue?) throws(SyncError) -> String {
        switch value {
        case nil: return makeItemID()
        case .text(let id): return id
        default: throw SyncError(.invalidItemID, "The id of an item must be text.")
        }
    }
}
