// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreConformanceCommand
import StoreSQLite

@main struct Main {
    static func main() async {
        await ConformanceCommand.main(stores: [
            "memory": MemoryHarness(), "sqlite": SQLiteHarness(sharing: .exclusive),
            "sqlite-shared": SQLiteHarness(sharing: .shared), "lmdb": LMDBHarness(),
        ])
    }
}
