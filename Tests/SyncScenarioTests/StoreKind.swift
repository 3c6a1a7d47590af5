// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import Testing

/// The stores on which scenarios run.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, lmdb

    var testDescription: String { rawValue }

    func open(in directory: URL, name: String, tables: [SyncTableDefinition]) throws
        -> any SyncContextDataSource
    {
        let path = directory.appendingPathComponent(name).path
        return switch self {
        case .memory: try MemoryStore(tables: tables)
        case .sqlite: try SQLiteStore(path: path + ".sqlite", tables: tables)
        case .lmdb: try LMDBStore(path: path + ".lmdb", tables: tables)
        }
    }

    static var persistent: [StoreKind] { [.sqlite, .lmdb] }
}
