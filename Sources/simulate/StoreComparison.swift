// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreSQLite
import SyncCore
import SyncSimulation

/// Runs seeds in memory and on a store with files, and counts the seeds whose runs differ.
struct StoreComparison {
    /// A store with files.
    enum Store: String, CaseIterable {
        case sqlite, lmdb

        fileprivate func open(_ path: String, _ tables: [SyncTableDefinition]) throws
            -> any SyncContextDataSource
        {
            switch self {
            case .sqlite: try SQLiteStore(path: path, tables: tables, synchronous: .normal)
            case .lmdb: try LMDBStore(path: path, tables: tables)
            }
        }
    }

    private(set) var differenceCount = 0
    private let seeds: Range<UInt64>
    private let duration: Duration

    init(_ store: Store, _ seeds: Range<UInt64>) throws {
        self.seeds = seeds
        let startTime = ContinuousClock.now
        for seed in seeds {
            let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let storage = SimulatedStorage.databases { try store.open(directory.path + "/\($0)", $1) }
            guard let difference = try Simulation().difference(seed: seed, with: storage) else { continue }
            differenceCount += 1
            printLine("seed \(seed): \(difference)")
        }
        duration = ContinuousClock.now - startTime
    }

    var summary: String {
        let rate = Int(Double(seeds.count) / max(duration / .seconds(60), 0.0001))
        return "\(seeds.count) seeds, \(rate) a minute; differences: \(differenceCount)"
    }
}
