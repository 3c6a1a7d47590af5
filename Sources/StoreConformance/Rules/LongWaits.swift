// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Locks and writes that last longer than the ten seconds after which the locks of a killed process must be free.
    @RuleList static var longWaits: [StoreRule] {
        StoreRule(
            "capability.multi-process.long",
            "An opening keeps its locks for any time, and a write waits for a long one of another opening.",
            level: .full, requirement: .declared(.multiProcess)
        ) { run in
            let (store, second) = (try run.store, try run.open())
            let locks = [try store.tryLockPush(), try store.tryLockSync()]
            try run.expect(locks.allSatisfy { $0 != nil }, "The locks are available.")
            let isCalling = Signal()
            let group = ThreadGroup()
            try store.write { transaction in
                group.start {
                    isCalling.send()
                    try second.write { try $0.upsert([Item(id: "waited")], in: "Thing") }
                }
                try run.expect(run.wait(for: isCalling), "The second write has been called.")
                Thread.sleep(forTimeInterval: Self.longTime)
                try transaction.upsert([Item(id: "long")], in: "Thing")
            }
            try run.join(group)
            try run.expect(try run.ids(), is: ["long", "waited"], "the items of both writes")
            try run.expect(
                try second.tryLockPush() == nil,
                "The push lock is not acquired from an opening that keeps it.")
            try run.expect(
                try second.tryLockSync() == nil,
                "The sync lock is not acquired from an opening that keeps it.")
            for lock in locks { lock?.release() }
        }
    }

    /// More than the ten seconds within which the lock of a killed process becomes free, in seconds.
    private static let longTime = 11.0
}
