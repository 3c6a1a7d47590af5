// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import TestSupport

@testable import sync_conformance

struct MemoryHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryStore(tables: tables)
    }
}

struct SQLiteHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try SQLiteStore(path: path, tables: tables)
    }

    var child: ChildProgram? { .conformance(store: "sqlite") }

    var specialStores: SpecialStores { .sqlite }
}

/// The SQLite store, opened as shared between processes.
struct SharedSQLiteHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try SQLiteStore(path: path, tables: tables, sharing: .shared)
    }

    var child: ChildProgram? { .conformance(store: "sqlite-shared") }

    var specialStores: SpecialStores { .sqlite }
}

struct LMDBHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try LMDBStore(path: path, tables: tables)
    }

    var child: ChildProgram? { .conformance(store: "lmdb") }

    var specialStores: SpecialStores { .lmdb }
}

extension ChildProgram {
    /// The command-line tool, which is built next to the tests.
    static func conformance(store: String) -> ChildProgram {
        let path = try? builtProgram("sync-conformance").path
        return ChildProgram(executable: path ?? "sync-conformance", arguments: ["child", store])
    }
}
