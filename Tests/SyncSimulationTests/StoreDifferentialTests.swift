// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreSQLite
import SyncCore
import SyncSimulation
import Synchronization
import TestSupport
import Testing

/// Compares runs on stores with files with runs in memory: every commit and every request must be the same.
@Suite struct StoreDifferentialTests {
    @Test func `runs on SQLite equal runs in memory`() throws {
        try compare { path, tables in try SQLiteStore(path: path, tables: tables, synchronous: .normal) }
    }

    @Test func `runs on LMDB equal runs in memory`() throws {
        try compare { path, tables in try LMDBStore(path: path, tables: tables) }
    }

    private func compare(
        _ open: @escaping @Sendable (String, [SyncTableDefinition]) throws -> any SyncContextDataSource
    ) throws {
        let memory = Simulation()
        for seed in UInt64(2000)..<2020 {
            try withTemporaryDirectory { directory in
                var files = memory
                let count = Mutex(0)
                files.app.storage = SimulatedStorage {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    let current = Mutex<(any SyncContextDataSource)?>(nil)
                    return { tables in
                        try current.withLock { store in
                            try store?.close()
                            let next = try open(directory.path + "/device\(number)", tables)
                            store = next
                            return next
                        }
                    }
                }
                let expected = try memory.run(seed: seed, isTraced: true)
                let actual = try files.run(seed: seed, isTraced: true)
                #expect(actual.failure?.description == expected.failure?.description, "seed \(seed)")
                let difference = zip(expected.trace, actual.trace).first { $0 != $1 }
                #expect(difference == nil, "seed \(seed): \(String(describing: difference))")
                #expect(actual.trace.count == expected.trace.count, "seed \(seed)")
            }
        }
    }
}
