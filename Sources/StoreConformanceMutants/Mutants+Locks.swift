// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Stores whose locks are lost, and whose writes do not wait long enough.
    @MutantList static var locks: [StoreMutant] {
        declaring(
            "release-twice", "A lock that is released again frees the lock of the next owner.",
            killedBy: "capability.multi-process.push-lock", "capability.multi-process.sync-lock",
            message: "does not free the other's"
        ) { flaw in
            flaw.shareOneStore()
            flaw.tryLockPush = { [path = flaw.path, hits = flaw.hits] _ in
                NamedLock.acquire("push \(path)", hits)
            }
            flaw.tryLockSync = { [path = flaw.path, hits = flaw.hits] _ in
                NamedLock.acquire("sync \(path)", hits)
            }
        }
        declaring(
            "lease", "A lock ends after five seconds.", killedBy: "capability.multi-process.long",
            message: "The push lock is not acquired from an opening that keeps it."
        ) { flaw in
            flaw.shareOneStore()
            flaw.tryLockPush = { [path = flaw.path, hits = flaw.hits] _ in
                NamedLock.acquire("push \(path)", hits, lease: 5)
            }
        }
        declaring(
            "impatient-write", "A write fails when it has waited for five seconds.",
            killedBy: "capability.multi-process.long", message: "Another opening is writing."
        ) { flaw in
            flaw.shareOneStore()
            flaw.write = { [path = flaw.path, hits = flaw.hits] base, body in
                let end = Date.now + 5
                var lock = NamedLock.acquire("write \(path)", nil)
                while lock == nil {
                    if Date.now > end {
                        hits.hit()
                        throw StoreError(.unavailable, "Another opening is writing.")
                    }
                    Thread.sleep(forTimeInterval: 0.01)
                    lock = NamedLock.acquire("write \(path)", nil)
                }
                defer { lock?.release() }
                try base.write(body)
            }
        }
        StoreMutant(
            .capability, "refused-lock-unlocks", "An opening that does not acquire a lock releases it.",
            killedBy: "capability.multi-process.processes.locks-kept",
            message: "after another opening did not acquire them", needsDurableStore: true
        ) { flaw in
            flaw.shareByTurns()
            let tryLock = flaw.tryLockPush
            flaw.tryLockPush = { [path = flaw.path, hits = flaw.hits] base in
                if let held = HeldLock.all.value[path] {
                    hits.hit()
                    held.release()
                    return nil
                }
                guard let lock = try tryLock?(base) else { return nil }
                HeldLock.all.change { $0[path] = lock }
                return HeldLock(path: path, lock: lock)
            }
        }
    }
}

/// A lock of this process, which any of its owners frees.
private struct NamedLock: StorePushLock {
    private static let ends = Shared<[String: Date]>([:])
    let name: String
    let hits: MutantHits?

    /// - Parameter lease: the seconds after which the lock ends.
    static func acquire(_ name: String, _ hits: MutantHits?, lease: TimeInterval = .infinity) -> NamedLock? {
        let isAcquired = Shared(false)
        let end = lease == .infinity ? Date.distantFuture : Date.now + lease
        ends.change { ends in
            if let end = ends[name], end > Date.now { return }
            ends[name] = end
            isAcquired.change { $0 = true }
        }
        return isAcquired.value ? NamedLock(name: name, hits: hits) : nil
    }

    func release() {
        hits?.hit()
        Self.ends.change { $0[name] = nil }
    }
}

/// A lock of an opening that the other openings of the process know.
private struct HeldLock: StorePushLock {
    static let all = Shared<[String: any StorePushLock]>([:])
    let path: String
    let lock: any StorePushLock

    func release() {
        Self.all.change { $0[path] = nil }
        lock.release()
    }
}
