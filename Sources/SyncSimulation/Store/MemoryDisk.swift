// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
@_spi(StoreAuthor) import SyncCore
import Synchronization

/// A database in memory that can be opened again with other tables: nothing is dropped, as stores with files do.
final class MemoryDisk: Sendable {
    private struct State {
        var store: MemoryStore?
        /// The last declarations of all tables.
        var declared: [String: SyncTableDefinition] = [:]
        /// The items of tables that are not declared now.
        var hidden: [String: [Item]] = [:]
    }

    private let state = Mutex(State())

    func open(_ tables: [SyncTableDefinition]) throws -> MemoryStore {
        try state.withLock { state in
            let store =
                try state.store.map { try Self.reopen($0, tables, &state) } ?? MemoryStore(tables: tables)
            for table in tables { state.declared[table.name] = table }
            state.store = store
            return store
        }
    }

    private static func reopen(
        _ former: MemoryStore, _ tables: [SyncTableDefinition], _ state: inout State
    ) throws -> MemoryStore {
        let changes = tables.map { table in
            let columns = state.declared[table.name]?.columns.filter { !$0.isLocalOnly }
            return SyncedColumnsChange(to: table, from: columns)
        }
        for table in former.catalog.tables {
            state.hidden[table.name] = try former.read {
                try $0.items(matching: TableQuery(table.name)).items
            }
        }
        let migrated = try MemoryStore(tables: changes.map(\.union))
        try migrated.write { transaction in
            for table in tables {
                try transaction.upsert(state.hidden[table.name] ?? [], in: table.name)
                state.hidden[table.name] = nil
            }
            try copyQueue(from: former, to: transaction, tables: Set(state.declared.keys))
            for change in changes { try change.run(in: transaction) }
        }
        let store = try MemoryStore(tables: tables)
        try store.write { transaction in
            for table in tables {
                let items = try migrated.read { try $0.items(matching: TableQuery(table.name)).items }
                try transaction.upsert(items.map { declared($0, in: table) }, in: table.name)
            }
            try copyQueue(from: migrated, to: transaction, tables: Set(state.declared.keys))
        }
        return store
    }

    /// Returns the item without undeclared columns. The migration has kept their values among the undeclared ones.
    private static func declared(_ item: Item, in table: SyncTableDefinition) -> Item {
        var declared = item
        declared.fields = item.fields.filter { table.column(named: $0.key) != nil }
        return declared
    }

    /// Copies operations, errors and config values, and the highest operation id.
    private static func copyQueue(
        from store: MemoryStore, to transaction: any StoreTransaction, tables: Set<String>
    ) throws {
        let last = try store.write { try $0.lastOperationID() }
        try store.read { snapshot in
            if last > 0 {
                try transaction.put(TableOperation(id: last, table: "", itemID: "", kind: .insert))
                try transaction.removeOperation(id: last)
            }
            for operation in try snapshot.operations(after: 0, in: nil, limit: .max) {
                try transaction.put(operation)
            }
            for error in try snapshot.operationErrors(in: nil) { try transaction.put(error) }
            for table in tables.union([""]) {
                for kind in ConfigKey.Kind.allCases {
                    for (key, value) in try snapshot.configValues(in: table, kind: kind) {
                        try transaction.setConfigValue(value, for: key)
                    }
                }
            }
        }
    }
}
