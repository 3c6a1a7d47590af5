// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A transaction of any store that records what it changes.
final class RecordingTransaction: StoreTransaction {
    private let base: any StoreTransaction
    /// The tables whose rows are recorded. Others count as changed anywhere, for observers that begin during the
    /// transaction.
    private let observedTables: CommitFeed.ObservedTables
    private(set) var changes = ChangeSet()

    init(_ base: any StoreTransaction, observedTables: CommitFeed.ObservedTables) {
        (self.base, self.observedTables) = (base, observedTables)
    }

    // MARK: Items

    func insert(_ item: Item, in table: String) throws -> Bool {
        let isNew = try base.insert(item, in: table)
        if isNew { record([item], in: table) { ChangedRow(id: UTF8Text($0.id), item: $0) } }
        return isNew
    }

    func upsert(_ items: [Item], in table: String) throws {
        try base.upsert(items, in: table)
        record(items, in: table) { ChangedRow(id: UTF8Text($0.id), item: $0) }
    }

    func deleteItems(ids: [String], in table: String) throws {
        try base.deleteItems(ids: ids, in: table)
        record(ids, in: table) { ChangedRow(id: UTF8Text($0), item: nil) }
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        let count = try base.deleteItems(matching: query)
        if count > 0 { changes.add(.everything, to: query.table) }
        return count
    }

    private func record<Change>(_ changed: [Change], in table: String, row: (Change) -> ChangedRow) {
        if changed.isEmpty { return }
        let isRecorded = changed.count <= TableChange.maxRows && observedTables.contains(table)
        changes.add(isRecorded ? .rows(changed.map(row)) : .everything, to: table)
    }

    // MARK: Operations and errors

    func put(_ operation: TableOperation) throws {
        try base.put(operation)
        changes.touchesOperations = true
    }

    func removeOperation(id: Int64) throws {
        try base.removeOperation(id: id)
        changes.touchesOperations = true
    }

    func put(_ error: TableOperationError) throws {
        try base.put(error)
        changes.touchesOperations = true
    }

    func removeOperationError(operationID: Int64) throws {
        try base.removeOperationError(operationID: operationID)
        changes.touchesOperations = true
    }

    // MARK: The rest

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try base.setConfigValue(value, for: key)
    }

    func lastOperationID() throws -> Int64 { try base.lastOperationID() }

    func externalCommitStamp() throws -> Int64 { try base.externalCommitStamp() }

    func item(id: String, in table: String) throws -> Item? { try base.item(id: id, in: table) }

    func items(matching query: TableQuery) throws -> QueryResult { try base.items(matching: query) }

    /// Not the default, which reads all columns: one of them may have a value that cannot be read.
    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        try base.forEachRow(matching: query, columns: columns, body)
    }

    func operation(id: Int64) throws -> TableOperation? { try base.operation(id: id) }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try base.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try base.operations(forItem: itemID, in: table)
    }

    func operationCount(in table: String?) throws -> Int { try base.operationCount(in: table) }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try base.operationError(operationID: operationID)
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try base.operationErrors(in: table)
    }

    func configValue(_ key: ConfigKey) throws -> String? { try base.configValue(key) }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try base.configValues(in: table, kind: kind)
    }
}
