// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore

struct MemoryHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryStore(tables: tables)
    }
}

struct SQLiteHarness: StoreHarness {
    let sharing: SQLiteStore.Sharing

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try SQLiteStore(path: path, tables: tables, sharing: sharing)
    }

    var specialStores: SpecialStores { .sqlite }
}

struct LMDBHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try LMDBStore(path: path, tables: tables)
    }

    var specialStores: SpecialStores { .lmdb }
}
