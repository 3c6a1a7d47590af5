// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore

/// Which store keeps the list. The choice is made here, once; nothing else in the app depends on it.
enum StoreChoice: String, ExpressibleByArgument, CaseIterable {
    case sqlite, lmdb, memory

    /// Opens the store, in files of that directory and name if it keeps any.
    func open(in directory: URL, name: String = "todo") throws -> any SyncContextDataSource {
        let path = directory.appendingPathComponent(name).path
        return switch self {
        // Shared, so that several commands can run at the same time. LMDB stores cannot be.
        case .sqlite:
            try SQLiteStore(path: path + ".sqlite", tables: [TodoItem.definition], sharing: .shared)
        case .lmdb: try LMDBStore(path: path + ".lmdb", tables: [TodoItem.definition])
        case .memory: try MemoryStore(tables: [TodoItem.definition])
        }
    }

    /// What the store leaves on the disk, or that it leaves nothing.
    func place(in directory: URL) -> String {
        switch self {
        case .sqlite, .lmdb: directory.appendingPathComponent("todo.\(rawValue)").path
        case .memory: "nothing is kept"
        }
    }
}
