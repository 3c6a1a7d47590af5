// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose external commit stamp misses commits of other openings, or counts own writes.
    @MutantList static var sharedStamps: [StoreMutant] {
        declaring(
            "own-stamp", "The external commit stamp of a single-process store counts its own commits.",
            killedBy: "capability.stamp.own",
            message: "the stamps before and after a change of an item in a write"
        ) { flaw in
            let own = Shared<Int64>(0)
            flaw.write = { base, body in
                try base.write(body)
                own.change { $0 += 1 }
            }
            flaw.externalCommitStamp = { [hits = flaw.hits] _ in
                if own.value > 0 { hits.hit() }
                return own.value
            }
        }
        declaring(
            "stamp-of-one-byte", "The external commit stamp is counted in one byte.",
            killedBy: "capability.multi-process.stamp.several", message: "is a new one"
        ) { flaw in
            flaw.shareInProcess()
            let stamp = flaw.externalCommitStamp
            flaw.externalCommitStamp = { [hits = flaw.hits] transaction in
                let right = try stamp?(transaction) ?? transaction.externalCommitStamp()
                return hits.changing(right, to: right & 0xFF)
            }
        }
        declaring(
            "stamp-hidden", "The external commit stamp changes only if the last commit is another opening's.",
            killedBy: "capability.multi-process.stamp.own", message: "which an own commit follows"
        ) { flaw in
            flaw.shareInProcess()
            let path = flaw.path
            let (lastOwn, known) = (Shared<Int64>(-1), Shared<Int64>(0))
            flaw.write = { base, body in
                try base.write(body)
                ProcessCommits.add(path)
                lastOwn.change { $0 = ProcessCommits.count(path) }
            }
            flaw.externalCommitStamp = { [hits = flaw.hits] _ in
                let count = ProcessCommits.count(path)
                if count == lastOwn.value { hits.hit() } else { known.change { $0 = count } }
                return known.value
            }
        }
        declaring(
            "stamp-of-changes",
            "The external commit stamp counts the changes of the transaction that reads it.",
            killedBy: "capability.multi-process.stamp.own",
            message: "the stamps before and after a change of an item in a write"
        ) { flaw in
            flaw.shareInProcess()
            let hasChanged = Shared(false)
            let (write, upsert, stamp) = (flaw.write, flaw.upsert, flaw.externalCommitStamp)
            flaw.write = { base, body in
                try write?(base) { transaction in
                    hasChanged.change { $0 = false }
                    try body(transaction)
                }
            }
            flaw.upsert = { transaction, items, table in
                hasChanged.change { $0 = true }
                try upsert?(transaction, items, table)
            }
            flaw.externalCommitStamp = { [hits = flaw.hits] transaction in
                if hasChanged.value { hits.hit() }
                return try (stamp?(transaction) ?? 0) + (hasChanged.value ? 1 : 0)
            }
        }
        declaring(
            "stamp-of-failure", "The external commit stamp counts a failed write as an own commit.",
            killedBy: "capability.multi-process.stamp.own",
            message: "the stamp after the opening's own failed write of an item"
        ) { flaw in
            flaw.shareInProcess()
            let failures = Shared<Int64>(0)
            let (write, stamp) = (flaw.write, flaw.externalCommitStamp)
            flaw.write = { [hits = flaw.hits] base, body in
                do { try write?(base, body) } catch {
                    hits.hit()
                    failures.change { $0 += 1 }
                    throw error
                }
            }
            flaw.externalCommitStamp = { try (stamp?($0) ?? 0) - failures.value }
        }
        declaring(
            "alternating-stamp", "The external commit stamp alternates between two values.",
            killedBy: "capability.multi-process.stamp.several",
            message: "The stamp after 2 commits of the other opening"
        ) { flaw in
            flaw.shareInProcess()
            let stamp = flaw.externalCommitStamp
            flaw.externalCommitStamp = { [hits = flaw.hits] transaction in
                hits.hit()
                return try (stamp?(transaction) ?? 0) % 2
            }
        }
    }
}
