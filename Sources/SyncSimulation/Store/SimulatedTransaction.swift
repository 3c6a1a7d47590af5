// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A transaction whose calls can fail, and that records what is written.
struct SimulatedTransaction: StoreTransaction {
    let base: any StoreTransaction
    let store: SimulatedStore
    let written = WrittenKeys()

    private func call<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try store.willCall()
        return try body(base)
    }

    func item(id: String, in table: String) throws -> Item? { try call { try $0.item(id: id, in: table) } }

    func items(matching query: TableQuery) throws -> QueryResult {
        try call { try $0.items(matching: query) }
    }

    func operation(id: Int64) throws -> TableOperation? { try call { try $0.operation(id: id) } }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try call { try $0.operations(after: id, in: table, limit: limit) }
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try call { try $0.operations(forItem: itemID, in: table) }
    }

    func operationCount(in table: String?) throws -> Int { try call { try $0.operationCount(in: table) } }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try call { try $0.operationError(operationID: operationID) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try call { try $0.operationErrors(in: table) }
    }

    func configValue(_ key: ConfigKey) throws -> String? { try call { try $0.configValue(key) } }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try call { try $0.configValues(in: table, kind: kind) }
    }

    func insert(_ item: Item, in table: String) throws -> Bool {
        written.insert(RowKey(table: table, id: item.id))
        return try call { try $0.insert(item, in: table) }
    }

    func upsert(_ items: [Item], in table: String) throws {
        for item in items { written.insert(RowKey(table: table, id: item.id)) }
        try call { try $0.upsert(items, in: table) }
    }

    func deleteItems(ids: [String], in table: String) throws {
        for id in ids { written.insert(RowKey(table: table, id: id)) }
        try call { try $0.deleteItems(ids: ids, in: table) }
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        written.insertAll(in: query.table)
        return try call { try $0.deleteItems(matching: query) }
    }

    func lastOperationID() throws -> Int64 { try call { try $0.lastOperationID() } }

    func put(_ operation: TableOperation) throws {
        written.insert(RowKey(table: operation.table, id: operation.itemID))
        try call { try $0.put(operation) }
    }

    func removeOperation(id: Int64) throws {
        if let operation = try base.operation(id: id) {
            written.insert(RowKey(table: operation.table, id: operation.itemID))
        }
        try call { try $0.removeOperation(id: id) }
    }

    func put(_ error: TableOperationError) throws {
        written.insert(RowKey(table: error.table, id: error.itemID))
        try call { try $0.put(error) }
    }

    func removeOperationError(operationID: Int64) throws {
        try call { try $0.removeOperationError(operationID: operationID) }
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try call { try $0.setConfigValue(value, for: key) }
        written.insertConfigValue()
    }

    func externalCommitStamp() throws -> Int64 { store.externalCommits }
}
