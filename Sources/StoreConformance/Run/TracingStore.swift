// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Notes every call, and passes it on.
struct TracingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let trace: Trace

    init(_ base: any SyncContextDataSource, trace: Trace) {
        self.base = base
        self.trace = trace
    }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        trace.note("read {")
        return try ending { try base.read { try body(TracingSnapshot(base: $0, trace: trace)) } }
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        trace.note("write {")
        return try ending { try base.write { try body(TracingTransaction(base: $0, trace: trace)) } }
    }

    func onExternalCommit(_ handler: @escaping @Sendable () -> Void) { base.onExternalCommit(handler) }

    func tryLockPush() throws -> (any StorePushLock)? {
        trace.note("tryLockPush")
        return try base.tryLockPush()
    }

    func close() throws {
        trace.note("close")
        try base.close()
    }

    private func ending<T>(_ body: () throws -> T) throws -> T {
        do {
            let result = try body()
            trace.note("}")
            return result
        } catch {
            trace.note("} threw \(error)")
            throw error
        }
    }
}

/// What tracing a snapshot and tracing a transaction have in common.
private protocol Tracing: StoreSnapshot {
    associatedtype Base
    var base: Base { get }
    var reader: any StoreSnapshot { get }
    var trace: Trace { get }
}

extension Tracing {
    func item(id: String, in table: String) throws -> Item? {
        trace.note("  item \(id.exactForm) in \(table)")
        return try reader.item(id: id, in: table)
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        trace.note("  items matching \(query.outline)")
        return try reader.items(matching: query)
    }

    func operation(id: Int64) throws -> TableOperation? {
        trace.note("  operation \(id)")
        return try reader.operation(id: id)
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        trace.note("  operations after \(id) in \(table.exactForm), limit \(limit)")
        return try reader.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        trace.note("  operations for item \(itemID.exactForm) in \(table.exactForm)")
        return try reader.operations(forItem: itemID, in: table)
    }

    func operationCount(in table: String?) throws -> Int {
        trace.note("  operation count in \(table.exactForm)")
        return try reader.operationCount(in: table)
    }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        trace.note("  error of operation \(operationID)")
        return try reader.operationError(operationID: operationID)
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        trace.note("  errors in \(table.exactForm)")
        return try reader.operationErrors(in: table)
    }

    func configValue(_ key: ConfigKey) throws -> String? {
        trace.note("  config \(key.exactForm)")
        return try reader.configValue(key)
    }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        trace.note("  config values of \(table.exactForm)/\(kind.rawValue)")
        return try reader.configValues(in: table, kind: kind)
    }
}

private struct TracingSnapshot: Tracing {
    let base: any StoreSnapshot
    let trace: Trace
    var reader: any StoreSnapshot { base }
}

private struct TracingTransaction: Tracing, StoreTransaction {
    let base: any StoreTransaction
    let trace: Trace
    var reader: any StoreSnapshot { base }

    func insert(_ item: Item, in table: String) throws -> Bool {
        trace.note("  insert in \(table): \(item.exactForm)")
        return try base.insert(item, in: table)
    }

    func upsert(_ items: [Item], in table: String) throws {
        trace.note(
            "  upsert in \(table): \(items.prefix(4).map(\.exactForm).joined(separator: ", "))"
                + (items.count > 4 ? " … \(items.count) items" : ""))
        try base.upsert(items, in: table)
    }

    func deleteItems(ids: [String], in table: String) throws {
        trace.note("  delete in \(table): \(Array(ids.prefix(8)).exactForm) of \(ids.count)")
        try base.deleteItems(ids: ids, in: table)
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        trace.note("  delete matching \(query.outline)")
        return try base.deleteItems(matching: query)
    }

    func lastOperationID() throws -> Int64 {
        trace.note("  last operation id")
        return try base.lastOperationID()
    }

    func put(_ operation: TableOperation) throws {
        trace.note("  put \(operation.exactForm)")
        try base.put(operation)
    }

    func removeOperation(id: Int64) throws {
        trace.note("  remove operation \(id)")
        try base.removeOperation(id: id)
    }

    func put(_ error: TableOperationError) throws {
        trace.note("  put \(error.exactForm)")
        try base.put(error)
    }

    func removeOperationError(operationID: Int64) throws {
        trace.note("  remove error of operation \(operationID)")
        try base.removeOperationError(operationID: operationID)
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        trace.note("  set config \(key.exactForm) = \(value.exactForm)")
        try base.setConfigValue(value, for: key)
    }

    func externalCommitStamp() throws -> Int64 { try base.externalCommitStamp() }
}
