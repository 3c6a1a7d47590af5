// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncModels

/// The store of the list. Nothing else in the app depends on the choice.
enum StoreChoice: String, ExpressibleByArgument, CaseIterable {
    case sqlite, lmdb, memory

    /// Opens the store; its files, if any, have this name and are in this directory.
    func open(in directory: URL, name: String = "todo") throws -> any SyncContextDataSource {
        let path = directory.appendingPathComponent(name).path
        return switch self {
        // Shared, so that several commands can run at the same time. LMDB stores cannot be shared.
        case .sqlite:
            try SQLiteStore(path: path + ".sqlite", tables: .models(TodoItem.self), sharing: .shared)
        case .lmdb: try LMDBStore(path: path + ".lmdb", tables: .models(TodoItem.self))
        case .memory: try MemoryStore(tables: .models(TodoItem.self))
        }
    }

    /// Returns the path of the store's file, or a text that it has none.
    func location(in directory: URL) -> String {
        switch self {
        case .sqlite, .lmdb: directory.appendingPathComponent("todo.\(rawValue)").path
        case .memory: "in memory only"
        }
    }
}
