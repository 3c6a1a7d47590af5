// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What can be read in a transaction: one consistent state of the whole store.
///
/// A table that is not in the catalog throws ``SyncError/Code/unknownTable`` from ``TableCatalog/table(named:)``
/// wherever items are concerned. Operations, errors and config values take any table name, so that a queue
/// outlives a table that the app no longer declares.
public protocol StoreSnapshot {
    // MARK: Read

    /// The item of that id, or `nil`. Ids are compared byte for byte.
    func item(id: String, in table: String) throws -> Item?

    /// The items that match the query, ordered, cut and selected as it says, with the total count if asked.
    ///
    /// ``Filter/matches(_:)`` and ``TableQuery/apply(to:)`` are the reference for every detail.
    func items(matching query: TableQuery) throws -> QueryResult

    // MARK: Operation queue

    /// The operation of that id, or `nil`.
    func operation(id: Int64) throws -> TableOperation?

    /// Up to `limit` operations whose id is greater than `id`, in ascending order of id; of one table, or of all.
    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation]

    /// The operations of one item, in ascending order of id.
    func operations(forItem itemID: String, in table: String) throws -> [TableOperation]

    /// How many operations there are, of one table or of all.
    func operationCount(in table: String?) throws -> Int

    // MARK: Error log

    /// The error of that operation, or `nil`.
    func operationError(operationID: Int64) throws -> TableOperationError?

    /// The errors, in ascending order of operation id; of one table, or of all.
    func operationErrors(in table: String?) throws -> [TableOperationError]

    // MARK: Table config

    /// The value under that key, or `nil`.
    func configValue(_ key: ConfigKey) throws -> String?

    /// All values of one table and kind, in byte order of their key names.
    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)]
}

/// The name of one value in the table config.
public struct ConfigKey: Sendable, Hashable {
    /// The table the value belongs to; empty for values of the whole store.
    public let table: String
    /// What sort of value it is.
    public let kind: Kind
    /// The name within table and kind, for example a query ID; any text, exact byte for byte.
    public let name: String

    /// What sort of value a config value is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// How far an incremental pull has come; the name is its query ID.
        case deltaToken
        /// A setting of the framework itself.
        case setting
        /// When and in which state a row was removed that another process may still be pulling; the name is its id.
        case removedRow
    }

    /// Names a value.
    public init(table: String, kind: Kind, name: String) {
        self.table = table
        self.kind = kind
        self.name = name
    }
}
