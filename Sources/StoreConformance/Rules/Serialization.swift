// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// The moment at which a snapshot and a write begin.
    @RuleList static var serialization: [StoreRule] {
        StoreRule(
            "concurrent.snapshot.begin",
            "A snapshot is fixed when the body of a read begins, not at the first question.",
            level: .concurrent, requirement: .declared(.concurrentReaders)
        ) { run in
            let store = try run.store
            try run.put([Item(id: "n", fields: ["count": 1])])
            let group = ThreadGroup()
            let seen = try store.read { snapshot in
                let isWritten = Signal()
                group.start {
                    try store.write {
                        try $0.upsert([Item(id: "n", fields: ["count": 2])], in: "Thing")
                    }
                    isWritten.send()
                }
                try run.expect(run.wait(for: isWritten), "The write finished while the read was running.")
                return try snapshot.item(id: "n", in: "Thing")?["count"]
            }
            try run.join(group)
            try run.expect(seen, is: 1, "the item in the snapshot that began before the write")
        }
        StoreRule(
            "concurrent.write-after-wait", "A write that waited for another sees its changes.",
            level: .concurrent
        ) { run in
            try run.expectNewestState(inWriteOf: try run.store, waitingFor: try run.store)
        }
    }
}

extension RuleRun {
    /// Starts a write of the second store during a write of the first, which is the same store or another opening of it.
    /// Expects the second write to wait, and to see the changes of the first.
    func expectNewestState(
        inWriteOf second: any SyncContextDataSource, waitingFor first: any SyncContextDataSource
    ) throws {
        try put([Item(id: "n", fields: ["count": 1])])
        let (isCalling, hasBegun) = (Signal(), Signal())
        let seen = Shared<Int64?>(nil)
        let group = ThreadGroup()
        let hasOverlapped = try first.write { transaction in
            group.start {
                isCalling.send()
                try second.write { transaction in
                    hasBegun.send()
                    let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue
                    seen.change { $0 = count }
                    try transaction.upsert(
                        [Item(id: "n", fields: ["count": .int((count ?? 0) + 1)])], in: "Thing")
                }
            }
            _ = wait(for: isCalling)
            let hasOverlapped = hasBegun.wait(seconds: 0.2)
            try transaction.upsert([Item(id: "n", fields: ["count": 2])], in: "Thing")
            return hasOverlapped
        }
        try join(group)
        try expect(!hasOverlapped, "The second write waited for the first.")
        try expect(seen.value, is: 2, "the count that the write read after it had waited")
        try expect(try item("n")?["count"], is: 3, "the count after both writes")
    }

    /// Increments a count in writes of eight threads, divided between the openings. Expects every increment.
    func expectNoLostUpdates(in openings: [any SyncContextDataSource]) throws {
        try put([Item(id: "n", fields: ["count": 0])])
        try runConcurrently(
            (0..<8).map { thread in
                let store = openings[thread % openings.count]
                return {
                    for _ in 0..<25 {
                        try store.write { transaction in
                            let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue ?? -1
                            // Other writes begin before this one ends.
                            Thread.sleep(forTimeInterval: 0.0002)
                            try transaction.upsert(
                                [Item(id: "n", fields: ["count": .int(count + 1)])], in: "Thing")
                        }
                    }
                }
            })
        try expect(try item("n")?["count"], is: 200, "the count after 8 times 25 increments")
    }
}
