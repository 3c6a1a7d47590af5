// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The write operations of a transaction. Reads see the changes that the transaction has made.
///
/// Other readers, also those of other openings, do not see the changes before the transaction is committed, and then see all
/// of them. A method that throws may have made part of its changes; the body then throws too, so that the transaction is
/// rolled back. The exception is an ``upsert(_:in:)`` of one item that throws ``StoreError/Code/schemaMismatch``: it has
/// changed nothing, and the body may continue and return.
public protocol StoreTransaction: StoreSnapshot {
    // MARK: Insert

    /// Adds the item, unless the table has an item of its id, which is not changed.
    ///
    /// The default looks the id up and calls ``upsert(_:in:)``. A store implements this if it has a faster way.
    ///
    /// - Returns: whether the item was added.
    /// - Throws: as ``upsert(_:in:)``.
    func insert(_ item: Item, in table: String) throws -> Bool

    // MARK: Upsert

    /// Adds the items, or replaces the items of their ids, with all fields.
    ///
    /// Of several items with one id, the last is stored. The number of items is not limited, and their fields may differ.
    ///
    /// - Throws: ``StoreError/Code/unsupported`` when an id is longer than
    ///   ``StoreCapabilities/maxIDLength``; ``StoreError/Code/schemaMismatch`` when a constraint refuses an item, which only a
    ///   store in the app's own tables throws.
    func upsert(_ items: [Item], in table: String) throws

    // MARK: Delete

    /// Removes the items of those ids. Unknown ids are ignored. The number of ids is not limited.
    func deleteItems(ids: [String], in table: String) throws

    /// Removes the items that ``StoreSnapshot/items(matching:)`` would return, and returns their number.
    @discardableResult
    func deleteItems(matching query: TableQuery) throws -> Int

    // MARK: Operation queue

    /// Returns the highest id of all operations that were ever committed or put in this transaction; 0 if there were
    /// none. Removing operations, closing and reopening do not lower it.
    func lastOperationID() throws -> Int64

    /// Adds the operation, or replaces the operation of its id. An id above ``lastOperationID()`` becomes the new
    /// last id.
    func put(_ operation: TableOperation) throws

    /// Removes the operation of that id, if it exists, but not its error.
    func removeOperation(id: Int64) throws

    // MARK: Error log

    /// Adds the error, or replaces the error of the same operation.
    func put(_ error: TableOperationError) throws

    /// Removes the error of that operation, if it exists.
    func removeOperationError(operationID: Int64) throws

    // MARK: Table config

    /// Sets the value of that key, or removes it if the value is `nil`.
    func setConfigValue(_ value: String?, for key: ConfigKey) throws

    // MARK: Other processes

    /// Returns a number that changes with each commit of another opening, in this or another process, that has changed
    /// something. It never has the value of an earlier state again.
    ///
    /// Own commits do not change it, and hide no commits of others: it is the same before and after the changes of a write,
    /// and in the next write unless another opening has committed in between. A write of which nothing was committed does not
    /// change it. Each opening has its own number, which has no meaning for others.
    ///
    /// A store that declares ``StoreCapabilities/isMultiProcess`` implements this. For other stores it never changes.
    func externalCommitStamp() throws -> Int64
}

extension StoreTransaction {
    /// Returns 0: no other process has the store open.
    public func externalCommitStamp() throws -> Int64 { 0 }
}

extension StoreTransaction {
    /// Looks the id up, and adds the item if it does not exist.
    public func insert(_ item: Item, in table: String) throws -> Bool {
        guard try self.item(id: item.id, in: table) == nil else { return false }
        try upsert([item], in: table)
        return true
    }
}
