// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreMemory
import SyncCore
import Synchronization

extension StoreMutant {
    /// Stores that share something between the openings of one process, but not between processes.
    @MutantList static var processes: [StoreMutant] {
        StoreMutant(
            .capability, "process-registry", "Only openings in the same process share contents and locks.",
            killedBy: "capability.multi-process.processes", "capability.multi-process.processes.stamp",
            "capability.multi-process.processes.locks",
            message: "the operations of the other process that a read did not find", needsDurableStore: true
        ) { flaw in
            flaw.shareOneStore()
            flaw.openBase = { _, path, tables in try OneStore.open(path, InMemory(), tables) }
            flaw.lockWithinProcess()
            flaw.stampWithinProcess()
        }
        StoreMutant(
            .capability, "process-locks", "A lock excludes only openings in the same process.",
            killedBy: "capability.multi-process.processes.locks",
            message: "The push lock of another process is not acquired.", needsDurableStore: true
        ) { flaw in
            flaw.takeTurns()
            flaw.lockWithinProcess()
        }
        StoreMutant(
            .capability, "process-stamp", "The external commit stamp counts only commits of its process.",
            killedBy: "capability.multi-process.processes.stamp",
            message: "The stamp changes after the commit of another process.", needsDurableStore: true
        ) { flaw in
            flaw.takeTurns()
            flaw.stampWithinProcess()
        }
    }
}

extension StoreFlaw {
    /// Acquires locks that exclude openings in this process only.
    mutating func lockWithinProcess() {
        tryLockPush = { [hits, path] base in
            hits.hit()
            return try base.tryLockPush().flatMap { _ in ProcessLock(path + ".push") }
        }
        tryLockSync = { [path] base in
            try base.tryLockSync().flatMap { _ in ProcessLock(path + ".sync") }
        }
    }

    /// Counts the commits of the other openings in this process.
    mutating func stampWithinProcess() {
        let own = Shared<Int64>(0)
        write = { [path] base, body in
            try base.write(body)
            ProcessCommits.add(path)
            own.change { $0 += 1 }
        }
        externalCommitStamp = { [hits, path] _ in
            hits.hit()
            return ProcessCommits.count(path) - own.value
        }
    }
}

/// Counts the commits to each store by this process.
enum ProcessCommits {
    private static let counts = Mutex<[String: Int64]>([:])

    static func count(_ path: String) -> Int64 { counts.withLock { $0[path] ?? 0 } }

    static func add(_ path: String) { counts.withLock { $0[path, default: 0] += 1 } }
}

/// A lock that excludes others of its name in this process.
private final class ProcessLock: StorePushLock {
    private static let held = Mutex<Set<String>>([])

    private let name: String
    private let isHeld = Mutex(true)

    /// Acquires the lock; returns `nil` if it is held.
    init?(_ name: String) {
        self.name = name
        guard Self.held.withLock({ $0.insert(name).inserted }) else { return nil }
    }

    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { Self.held.withLock { _ = $0.remove(name) } }
    }
}

private struct InMemory: StoreHarness {
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try MemoryStore(tables: tables)
    }
}
