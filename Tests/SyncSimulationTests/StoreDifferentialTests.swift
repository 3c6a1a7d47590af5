// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import SyncSimulation
import TestSupport
import Testing

/// Compares runs on stores with files with runs in memory: every commit and every request must be the same.
@Suite(.serialized) struct StoreDifferentialTests {
    @Test func `runs on SQLite equal runs in memory`() async throws {
        try await expectEqualRuns { path, tables in
            try SQLiteStore(path: path, tables: tables, synchronous: .normal)
        }
    }

    @Test func `runs on LMDB equal runs in memory`() async throws {
        try await expectEqualRuns { path, tables in try LMDBStore(path: path, tables: tables) }
    }

    @Test func `a store that loses its content differs`() async throws {
        let differences = try await onThread {
            try (UInt64(2000)..<2020).compactMap { seed in
                try Simulation().difference(
                    seed: seed, with: .databases { _, tables in try MemoryStore(tables: tables) })
            }
        }
        #expect(!differences.isEmpty)
    }

    private func expectEqualRuns(
        _ open: @escaping @Sendable (String, [SyncTableDefinition]) throws -> any SyncContextDataSource
    ) async throws {
        for seed in UInt64(2000)..<2020 {
            let difference = try await onThread {
                try withTemporaryDirectory { directory in
                    try Simulation().difference(
                        seed: seed,
                        with: .databases { device, tables in try open(directory.path + "/\(device)", tables) }
                    )
                }
            }
            #expect(difference == nil, "seed \(seed)")
        }
    }
}
