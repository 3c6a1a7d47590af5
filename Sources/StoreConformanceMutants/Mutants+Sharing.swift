// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores with errors in sharing between openings.
    @MutantList static var sharing: [StoreMutant] {
        declaring(
            "alleged-sharing", "Sharing is declared, but every opening is a different store.",
            killedBy: "capability.multi-process.shared", message: ""
        ) { flaw in
            flaw.declare { $0.isMultiProcess = true }
            flaw.openBase = { base, path, tables in
                try base.open(at: "\(path)-\(UUID().uuidString)", tables: tables)
            }
        }
        declaring(
            "shared-close", "Closing one opening closes all openings.",
            killedBy: "capability.multi-process.close",
            message: "closed"
        ) { flaw in
            flaw.declare { $0.isMultiProcess = true }
            flaw.openBase = { base, path, tables in try OneStore.open(path, base, tables) }
        }
        declaring(
            "no-locks", "A shared store always grants its locks and does not report other commits.",
            killedBy: "capability.multi-process.push-lock", "capability.multi-process.sync-lock",
            "capability.multi-process.stamp",
            message: "does not acquire it"
        ) { flaw in
            flaw.shareOneStore()
            flaw.tryLockPush = { _ in UnsharedPushLock() }
            flaw.tryLockSync = { _ in UnsharedPushLock() }
        }
        declaring(
            "locked-opening", "A shared store cannot be opened after an opening has acquired its sync lock.",
            killedBy: "capability.multi-process.locked", message: "The store is locked."
        ) { flaw in
            flaw.shareOneStore()
            flaw.tryLockSync = { [path = flaw.path] base in
                LockedPaths.all.change { $0.insert(path) }
                return try base.tryLockSync()
            }
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if LockedPaths.all.value.contains(path) {
                    hits.hit()
                    throw StoreError(.unavailable, "The store is locked.")
                }
                return try OneStore.open(path, base, tables)
            }
        }
        declaring(
            "second-opening", "A second opening succeeds and shows the first opening's items.",
            killedBy: "capability.multi-process.refused", message: "the first opening's item"
        ) { flaw in
            flaw.declare { ($0.isMultiProcess, $0.isDurable) = (false, false) }
            flaw.openBase = { base, path, tables in try OneStore.open(path, base, tables) }
            flaw.close = { _ in }
        }
        declaring(
            "lock-stays", "A closed store stays locked.", killedBy: "capability.multi-process.released",
            message: "no error"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if FileManager.default.fileExists(atPath: path + ".opened") {
                    hits.hit()
                    throw StoreError(.alreadyOpen, "The store is open.")
                }
                Files.make(path + ".opened")
                return try base.open(at: path, tables: tables)
            }
        }
        declaring(
            "openings-write-at-once",
            "Writes of two openings run concurrently, and their changes are applied afterwards.",
            killedBy: "capability.multi-process.write-after-wait", "capability.multi-process.no-lost-updates",
            message: "The second write waited"
        ) { flaw in
            flaw.shareOneStore()
            // One lock for each opening.
            let lock = NSLock()
            flaw.write = { base, body in
                lock.lock()
                defer { lock.unlock() }
                let changes = try RecordingTransaction.changes(of: body, on: base)
                try base.write { for change in changes { try change($0) } }
            }
        }
        declaring(
            "snapshot-before-shared-lock", "A write takes its snapshot before it waits for other openings.",
            killedBy: "capability.multi-process.write-after-wait", "capability.multi-process.no-lost-updates",
            message: "the count that the write read after it had waited"
        ) { flaw in
            flaw.shareOneStore()
            let lock = SharedLocks.lock(of: flaw.path)
            flaw.write = { base, body in
                try RecordingTransaction.write(body, on: base, lockingAfterSnapshot: lock)
            }
        }
    }
}

extension StoreFlaw {
    /// Declares that several openings share a store, and opens one base store for all of them.
    mutating func shareOneStore() {
        declare { $0.isMultiProcess = true }
        openBase = { base, path, tables in try OneStore.open(path, base, tables) }
        close = { _ in }
    }
}

/// The paths of stores whose sync lock was acquired.
private enum LockedPaths {
    static let all = Shared<Set<String>>([])
}

/// One lock for all openings of a path.
private enum SharedLocks {
    private static let locks = Shared<[String: NSLock]>([:])

    static func lock(of path: String) -> NSLock {
        locks.change { if $0[path] == nil { $0[path] = NSLock() } }
        return locks.value[path] ?? NSLock()
    }
}
