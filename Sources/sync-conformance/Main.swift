// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore

struct SQLiteHarness: StoreHarness {
    let isShared: Bool
    func open(at path: String, tables: [TableDefinition]) throws -> any SyncContextDataSource {
        try SQLiteStore(path: path, tables: tables, sharing: isShared ? .shared : .exclusive)
    }
}
struct LMDBHarness: StoreHarness {
    func open(at path: String, tables: [TableDefinition]) throws -> any SyncContextDataSource {
        try LMDBStore(path: path, tables: tables)
    }
}
@main struct Main {
    static func main() throws {
        let a = CommandLine.arguments
        if a.count > 3, let child = CrashChild(arguments: a.dropFirst(3)) {
            switch a[2] {
            case "sqlite": try child.run(SQLiteHarness(isShared: false))
            case "sqlite-shared": try child.run(SQLiteHarness(isShared: true))
            default: try child.run(LMDBHarness())
            }
        }
    }
}
