// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Completes ``SyncContext/purgeAll(pending:)`` and ``SyncContext/cancelAndDiscardItem(for:)`` for tables that were not
/// declared at the time, whose items a store keeps.
///
/// The purge stamps the store and each declared table. When a context first uses the store, it purges each table with an
/// older stamp, and removes the items that were recorded as discarded. A table without a stamp that was never synced is
/// declared for the first time: its rows are the app's own. It gets the store's stamp before the first write. Builds without
/// stamps may have synced a table without one.
final class PurgeStamp: Sendable {
    private static let name = "purge"
    private static let storeKey = ConfigKey(table: "", kind: .setting, name: name)
    private static func key(of table: String) -> ConfigKey {
        ConfigKey(table: table, kind: .setting, name: name)
    }

    private static let discardedPrefix = "discarded "

    /// The stamp of a table that was declared before the first purge.
    private static let firstStamp = "0"

    /// What is left to do before the store is used; `nil` while it is not known.
    private let state = Mutex(Remaining?.none)

    private struct Remaining: Sendable {
        /// Whether tables have an older stamp, or discarded items are left.
        var hasPurge = false
        /// Whether tables are declared for the first time.
        var hasNewTables = false

        func needsWrite(stampingTables: Bool) -> Bool { hasPurge || stampingTables && hasNewTables }
    }

    /// Purges the declared tables that have an older stamp than the store, and removes discarded items.
    ///
    /// - Parameter stampsTables: whether to stamp the tables that are declared for the first time.
    func confirm(in store: GroupCommitWriter, stampsTables: Bool) async throws {
        let known = state.withLock(\.self)
        if let known, !known.needsWrite(stampingTables: stampsTables) { return }
        let tables = store.dataSource.tablesChildrenFirst.map(\.name)
        var remaining: Remaining
        if let known {
            remaining = known
        } else {
            remaining = try await store.read { snapshot in
                Remaining(
                    hasPurge: try !Self.isComplete(for: tables, in: snapshot),
                    hasNewTables: try !Self.newTables(tables, in: snapshot).isEmpty)
            }
        }
        if remaining.needsWrite(stampingTables: stampsTables) {
            try await store.write { transaction in
                for table in tables {
                    let removal = CascadedRemoval(of: table, in: store.dataSource)
                    try Self.removeDiscardedItems(in: table, removal, transaction)
                }
                for table in try Self.outdatedTables(tables, in: transaction) {
                    try Self.purge(table, in: transaction)
                }
                for table in try Self.newTables(tables, in: transaction) {
                    try Self.stamp(table, in: transaction)
                }
            }
            remaining = Remaining()
        }
        state.withLock { [remaining] in $0 = remaining }
    }

    /// Whether no item is left that a purge or a decision has removed.
    static func isComplete(for tables: [String], in snapshot: any StoreSnapshot) throws -> Bool {
        try outdatedTables(tables, in: snapshot).isEmpty
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
    private static func removeDiscardedItems(
        in table: String, _ removal: CascadedRemoval, _ transaction: any StoreTransaction
    ) throws {
        for (key, id) in try discardedItems(in: table, transaction) {
            if try transaction.operations(forItem: id, in: table).isEmpty {
                _ = try removal.remove(in: transaction) {
                    try transaction.deleteItems(ids: [id], in: table)
                    return 1
                }
                // Another process may have pulled the row since, and its delta token is past it.
                try transaction.recordPurge(of: table)
            }
            try transaction.setConfigValue(nil, for: key)
        }
    }

    private static func stamp(in snapshot: any StoreSnapshot) throws -> String {
        try snapshot.configValue(storeKey) ?? firstStamp
    }

    private static func stamp(_ table: String, in transaction: any StoreTransaction) throws {
        try transaction.setConfigValue(try stamp(in: transaction), for: key(of: table))
    }

    private static func outdatedTables(_ tables: [String], in snapshot: any StoreSnapshot) throws -> [String]
    {
        let stamp = try stamp(in: snapshot)
        return try tables.filter { table in
            if let own = try snapshot.configValue(key(of: table)) { return own != stamp }
            return try stamp != firstStamp && wasSynced(table, in: snapshot)
        }
    }

    /// Whether the table was declared in a context that has written, or has been synced.
    static func isKnown(_ table: String, in snapshot: any StoreSnapshot) throws -> Bool {
        try snapshot.configValue(key(of: table)) != nil || wasSynced(table, in: snapshot)
    }

    /// Whether the table has delta tokens, was purged, or has a row of the server.
    private static func wasSynced(_ table: String, in snapshot: any StoreSnapshot) throws -> Bool {
        if try PurgeCount.value(of: table, in: snapshot) != nil { return true }
        if try !snapshot.configValues(in: table, kind: .deltaToken).isEmpty { return true }
        let rows = TableQuery(table).where(.column("version") != .null).limit(1)
        return try !snapshot.items(matching: rows).items.isEmpty
    }

    private static func newTables(_ tables: [String], in snapshot: any StoreSnapshot) throws -> [String] {
        try tables.filter { try snapshot.configValue(key(of: $0)) == nil }
    }

    /// Keeps items with a pending operation: another process that declares the table made it after the purge.
    private static func purge(_ table: String, in transaction: any StoreTransaction) throws {
        let pending = Set(
            try transaction.operations(after: 0, in: table, limit: .max).map { UTF8Text($0.itemID) })
        if pending.isEmpty {
            try transaction.deleteItems(matching: TableQuery(table))
        } else {
            let ids = try transaction.items(matching: TableQuery(table)).items.map(\.id)
            try transaction.deleteItems(ids: ids.filter { !pending.contains(UTF8Text($0)) }, in: table)
        }
        try transaction.recordPurge(of: table)
        try stamp(table, in: transaction)
    }
}
