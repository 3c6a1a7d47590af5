// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What can be changed in a transaction. Reading sees the changes made so far.
///
/// Nobody else sees any of it until ``SyncContextDataSource/write(_:)`` returns. A change that throws may leave
/// this transaction half-changed; its body must then throw too, so that nothing of it is kept.
public protocol StoreTransaction: StoreSnapshot {
    // MARK: Insert

    /// Adds the item, unless the table has one of its id, which then stays as it is.
    ///
    /// It does what looking the id up first and ``upsert(_:in:)`` do, which is how it is done unless a store has a way
    /// that is faster.
    ///
    /// - Returns: whether the item was added.
    /// - Throws: as ``upsert(_:in:)``.
    func insert(_ item: Item, in table: String) throws -> Bool

    // MARK: Upsert

    /// Puts the items into the table: each replaces the item of its id whole, or is added.
    ///
    /// An id that occurs twice keeps the last one. Any number of items may come at once, with different fields.
    ///
    /// - Throws: ``StoreError/Code/unsupported`` when an id is longer than
    ///   ``StoreCapabilities/maxIDLength``.
    func upsert(_ items: [Item], in table: String) throws

    // MARK: Delete

    /// Removes the items of those ids; ids that are not there are ignored. Any number of ids may come at once.
    func deleteItems(ids: [String], in table: String) throws

    /// Removes the items that ``StoreSnapshot/items(matching:)`` would return, and returns how many there were.
    @discardableResult
    func deleteItems(matching query: TableQuery) throws -> Int

    // MARK: Operation queue

    /// The highest id of any operation ever put into this store and committed, or put in this transaction; 0
    /// before the first. Removing operations, closing and reopening do not lower it.
    func lastOperationID() throws -> Int64

    /// Adds the operation, or replaces the one of its id. An id above ``lastOperationID()`` raises that.
    func put(_ operation: TableOperation) throws

    /// Removes the operation of that id, if there is one. Its error stays until it is removed itself.
    func removeOperation(id: Int64) throws

    // MARK: Error log

    /// Records the error, in place of an earlier one of the same operation.
    func put(_ error: TableOperationError) throws

    /// Removes the error of that operation, if there is one.
    func removeOperationError(operationID: Int64) throws

    // MARK: Table config

    /// Sets the value under that key, or removes it when the value is `nil`.
    func setConfigValue(_ value: String?, for key: ConfigKey) throws

    // MARK: Other processes

    /// A number that is another one after each commit of another process, or of another opening of the file in this one.
    ///
    /// A store that is declared ``StoreCapabilities/isMultiProcess`` implements this; in others it never changes.
    func externalCommitStamp() throws -> Int64
}

extension StoreTransaction {
    /// The number of a store that no other process has open.
    public func externalCommitStamp() throws -> Int64 { 0 }
}

extension StoreTransaction {
    /// Looks the id up, and adds the item if it is not there.
    public func insert(_ item: Item, in table: String) throws -> Bool {
        guard try self.item(id: item.id, in: table) == nil else { return false }
        try upsert([item], in: table)
        return true
    }
}
