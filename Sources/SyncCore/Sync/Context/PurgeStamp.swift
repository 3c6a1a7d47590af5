// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Completes ``SyncContext/purgeAll(pending:)`` and ``SyncContext/cancelAndDiscardItem(for:)`` for tables that were not
/// declared at the time, whose items a store keeps.
///
/// The purge stamps the store and each declared table. When a context first uses the store, it purges each table that does
/// not have the store's stamp, and removes the items that were recorded as discarded.
final class PurgeStamp: Sendable {
    private static let name = "purge"
    private static let storeKey = ConfigKey(table: "", kind: .setting, name: name)
    private static func key(of table: String) -> ConfigKey {
        ConfigKey(table: table, kind: .setting, name: name)
    }

    private static let discardedPrefix = "discarded "

    private let isConfirmed = Mutex(false)

    /// Purges the declared tables that do not have the store's stamp, and removes discarded items.
    func confirm(in store: GroupCommitWriter) async throws {
        guard !isConfirmed.withLock({ $0 }) else { return }
        let tables = store.dataSource.catalog.tables.map(\.name)
        let isComplete = try await store.read { try Self.isComplete(for: tables, in: $0) }
        if !isComplete {
            try await store.write { transaction in
                for table in tables { try Self.removeDiscardedItems(in: table, transaction) }
                for table in try Self.unstamped(tables, in: transaction) {
                    try Self.purge(table, in: transaction)
                }
            }
        }
        isConfirmed.withLock { $0 = true }
    }

    /// Whether no item is left that a purge or a decision has removed.
    static func isComplete(for tables: [String], in snapshot: any StoreSnapshot) throws -> Bool {
        try unstamped(tables, in: snapshot).isEmpty
            && tables.allSatisfy { try discardedItems(in: $0, snapshot).isEmpty }
    }

    /// Stamps the store and the tables, in a transaction that has purged them.
    static func renew(_ tables: [String], in transaction: any StoreTransaction) throws {
        let last = try transaction.configValue(storeKey).flatMap(Int64.init) ?? 0
        for key in [storeKey] + tables.map(key) {
            try transaction.setConfigValue(String(last &+ 1), for: key)
        }
    }

    /// Records that an item of a table that is not declared must be removed.
    static func recordDiscarded(_ id: String, in table: String, _ transaction: any StoreTransaction) throws {
        let key = ConfigKey(table: table, kind: .setting, name: discardedPrefix + id)
        try transaction.setConfigValue("", for: key)
    }

    private static func discardedItems(
        in table: String, _ snapshot: any StoreSnapshot
    ) throws -> [(key: ConfigKey, id: String)] {
        try snapshot.configValues(in: table, kind: .setting).compactMap { key, _ in
            key.name.dropping(prefix: discardedPrefix).map { (key, $0) }
        }
    }

    /// Keeps items with a pending operation: another process that declares the table has changed them since.
    private static func removeDiscardedItems(in table: String, _ transaction: any StoreTransaction) throws {
        for (key, id) in try discardedItems(in: table, transaction) {
            if try transaction.operations(forItem: id, in: table).isEmpty {
                try transaction.deleteItems(ids: [id], in: table)
            }
            try transaction.setConfigValue(nil, for: key)
        }
    }

    private static func unstamped(_ tables: [String], in snapshot: any StoreSnapshot) throws -> [String] {
        guard let stamp = try snapshot.configValue(storeKey) else { return [] }
        return try tables.filter { try snapshot.configValue(key(of: $0)) != stamp }
    }

    /// Keeps items with a pending operation: another process that declares the table made it after the purge.
    private static func purge(_ table: String, in transaction: any StoreTransaction) throws {
        let pending = Set(try transaction.operations(after: 0, in: table, limit: .max).map(\.itemID))
        if pending.isEmpty {
            try transaction.deleteItems(matching: TableQuery(table))
        } else {
            let ids = try transaction.items(matching: TableQuery(table)).items.map(\.id)
            try transaction.deleteItems(ids: ids.filter { !pending.contains($0) }, in: table)
        }
        try transaction.recordPurge(of: table)
        try transaction.setConfigValue(try transaction.configValue(storeKey), for: key(of: table))
    }
}
