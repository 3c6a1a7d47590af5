// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import FileStore
import StoreConformance
import StoreConformanceCommand
import SyncCore

struct FileStoreHarness: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try FileStore(path: path, tables: tables)
    }
}

@main struct Main {
    static func main() async { await ConformanceCommand.main(stores: ["file": FileStoreHarness()]) }
}
