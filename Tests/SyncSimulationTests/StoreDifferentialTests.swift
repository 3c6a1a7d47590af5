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
@Suite(.serialized) struct StoreDifferentialTests {
    @Test func `runs on SQLite equal runs in memory`() async throws {
        try await compare { path, tables in try SQLiteStore(path: path, tables: tables, synchronous: .normal)
        }
    }

    @Test func `runs on LMDB equal runs in memory`() async throws {
        try await compare { path, tables in try LMDBStore(path: path, tables: tables) }
    }

    private func compare(
        _ open: @escaping @Sendable (String, [SyncTableDefinition]) throws -> any SyncContextDataSource
    ) async throws {
        for seed in UInt64(2000)..<2020 {
            let (expected, actual) = try await onThread { try Self.runs(of: seed, open) }
            #expect(actual.failure?.description == expected.failure?.description, "seed \(seed)")
            let difference = zip(expected.trace, actual.trace).first { $0 != $1 }
            #expect(difference == nil, "seed \(seed): \(String(describing: difference))")
            #expect(actual.trace.count == expected.trace.count, "seed \(seed)")
        }
    }

    /// Runs the seed in memory and on stores with files.
    private static func runs(
        of seed: UInt64,
        _ open: @escaping @Sendable (String, [SyncTableDefinition]) throws -> any SyncContextDataSource
    ) throws -> (memory: Simulation.Report, files: Simulation.Report) {
        try withTemporaryDirectory { directory in
            let memory = Simulation()
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
            return (try memory.run(seed: seed, isTraced: true), try files.run(seed: seed, isTraced: true))
        }
    }
}
