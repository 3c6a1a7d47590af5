// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Records every call and forwards it to the base store.
struct TracingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let trace: Trace

    init(_ base: any SyncContextDataSource, trace: Trace) {
        self.base = base
        self.trace = trace
    }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    /// The base store for a dump, of which the log has one line.
    var baseForDump: any SyncContextDataSource {
        trace.record("read the complete contents")
        return base
    }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        trace.record("read {")
        return try recordingEnd { try base.read { try body(TracingSnapshot(base: $0, trace: trace)) } }
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        trace.record("write {")
        return try recordingEnd { try base.write { try body(TracingTransaction(base: $0, trace: trace)) } }
    }

    func onExternalCommit(_ handler: @escaping @Sendable () -> Void) { base.onExternalCommit(handler) }

    func tryLockPush() throws -> (any StorePushLock)? {
        trace.record("tryLockPush")
        return try base.tryLockPush()
    }

    func tryLockSync() throws -> (any StorePushLock)? {
        trace.record("tryLockSync")
        return try base.tryLockSync()
    }

    func close() throws {
        trace.record("close")
        try base.close()
    }

    private func recordingEnd<T>(_ body: () throws -> T) throws -> T {
        do {
            let result = try body()
            trace.record("}")
            return result
        } catch {
            trace.record("} threw \(error)")
            throw error
        }
    }
}

/// The reads that a traced snapshot and a traced transaction share.
private protocol Tracing: StoreSnapshot {
    var reader: any StoreSnapshot { get }
    var trace: Trace { get }
}

extension Tracing {
    func item(id: String, in table: String) throws -> Item? {
        trace.record("  item \(id.exactDescription) in \(table)")
        return try reader.item(id: id, in: table)
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        trace.record("  items matching \(query.outline)")
        return try reader.items(matching: query)
    }

    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        trace.record("  columns \(columns.exactDescription) of rows matching \(query.outline)")
        return try reader.forEachRow(matching: query, columns: columns, body)
    }

    func operation(id: Int64) throws -> TableOperation? {
        trace.record("  operation \(id)")
        return try reader.operation(id: id)
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        trace.record("  operations after \(id) in \(table.exactDescription), limit \(limit)")
        return try reader.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        trace.record("  operations for item \(itemID.exactDescription) in \(table.exactDescription)")
        return try reader.operations(forItem: itemID, in: table)
    }

    func operationCount(in table: String?) throws -> Int {
        trace.record("  operation count in \(table.exactDescription)")
        return try reader.operationCount(in: table)
    }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        trace.record("  error of operation \(operationID)")
        return try reader.operationError(operationID: operationID)
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        trace.record("  errors in \(table.exactDescription)")
        return try reader.operationErrors(in: table)
    }

    func configValue(_ key: ConfigKey) throws -> String? {
        trace.record("  config \(key.exactDescription)")
        return try reader.configValue(key)
    }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        trace.record("  config values of \(table.exactDescription)/\(kind.rawValue)")
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
        trace.record("  insert in \(table): \(item.exactDescription)")
        return try base.insert(item, in: table)
    }

    func upsert(_ items: [Item], in table: String) throws {
        trace.record(
            "  upsert in \(table): \(items.prefix(4).map(\.exactDescription).joined(separator: ", "))"
                + (items.count > 4 ? " … \(items.count) items" : ""))
        try base.upsert(items, in: table)
    }

    func deleteItems(ids: [String], in table: String) throws {
        trace.record("  delete in \(table): \(Array(ids.prefix(8)).exactDescription) of \(ids.count)")
        try base.deleteItems(ids: ids, in: table)
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        trace.record("  delete matching \(query.outline)")
        return try base.deleteItems(matching: query)
    }

    func lastOperationID() throws -> Int64 {
        trace.record("  last operation id")
        return try base.lastOperationID()
    }

    func put(_ operation: TableOperation) throws {
        trace.record("  put \(operation.exactDescription)")
        try base.put(operation)
    }

    func removeOperation(id: Int64) throws {
        trace.record("  remove operation \(id)")
        try base.removeOperation(id: id)
    }

    func put(_ error: TableOperationError) throws {
        trace.record("  put \(error.exactDescription)")
        try base.put(error)
    }

    func removeOperationError(operationID: Int64) throws {
        trace.record("  remove error of operation \(operationID)")
        try base.removeOperationError(operationID: operationID)
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        trace.record("  set config \(key.exactDescription) = \(value.exactDescription)")
        try base.setConfigValue(value, for: key)
    }

    func externalCommitStamp() throws -> Int64 { try base.externalCommitStamp() }
}
