// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The read operations of a transaction, on one consistent state of the whole store.
///
/// Methods for items throw ``SyncError/Code/unknownTable`` from ``TableCatalog/table(named:)`` for a table that is not in
/// the catalog. Methods for operations, errors and config values accept any table name, so that the queue keeps the
/// operations of a table that the app no longer declares.
public protocol StoreSnapshot {
    // MARK: Read

    /// Returns the item of that id, or `nil`. Ids are compared byte for byte.
    func item(id: String, in table: String) throws -> Item?

    /// Returns the items that match the query, in its order, within its offset and limit, with its selected fields, and
    /// the total count if the query includes it.
    ///
    /// ``Filter/matches(_:)`` and `TableQuery.apply(to:)` are the reference for every detail.
    func items(matching query: TableQuery) throws -> QueryResult

    /// Calls the body with the values of each row that the query matches: the rows and the order of ``items(matching:)``.
    ///
    /// Typed models are read by it. A store that implements it does not need to make an ``Item`` of each row; the default
    /// reads the rows by ``items(matching:)``.
    ///
    /// - Parameters:
    ///   - query: the rows. Its selection is ignored.
    ///   - columns: declared columns, each at most once.
    ///   - body: is called with one row at a time. It does not call the store.
    /// - Returns: the total count if the query includes it.
    /// - Throws: what the body throws.
    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int?

    // MARK: Operation queue

    /// Returns the operation of that id, or `nil`.
    func operation(id: Int64) throws -> TableOperation?

    /// Returns up to `limit` operations with ids greater than `id`, in ascending order of id; of one table, or of all.
    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation]

    /// Returns the operations of one item, in ascending order of id.
    func operations(forItem itemID: String, in table: String) throws -> [TableOperation]

    /// Returns the number of operations, of one table or of all.
    func operationCount(in table: String?) throws -> Int

    // MARK: Error log

    /// Returns the error of that operation, or `nil`.
    func operationError(operationID: Int64) throws -> TableOperationError?

    /// Returns the errors, in ascending order of operation id; of one table, or of all.
    func operationErrors(in table: String?) throws -> [TableOperationError]

    // MARK: Table config

    /// Returns the value of that key, or `nil`.
    func configValue(_ key: ConfigKey) throws -> String?

    /// Returns all values of one table and kind, in byte order of the names of their keys.
    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)]
}

/// The key of a value in the table config.
public struct ConfigKey: Sendable, Hashable {
    /// The table of the value; empty for values of the whole store.
    public let table: String
    /// The kind of the value.
    public let kind: Kind
    /// The name within table and kind, such as a query ID: any text, compared byte for byte.
    public let name: String

    /// The kind of a config value.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The delta token of an incremental pull; the name is its query ID.
        case deltaToken
        /// A setting of the framework.
        case setting
        /// When the row was removed, and its last `updatedAt`, for pulls of other processes; the name is the
        /// row's id.
        case removedRow
    }

    /// Makes a key.
    public init(table: String, kind: Kind, name: String) {
        self.table = table
        self.kind = kind
        self.name = name
    }
}
