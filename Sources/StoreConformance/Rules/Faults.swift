// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Injected faults at every point of a transaction.
    @RuleList static var faults: [StoreRule] {
        StoreRule("fault.none", "A wrapper without faults changes nothing.", level: .full) { run in
            let store = FaultingStore(try run.store)
            try run.seedEverything()
            try store.write { try Self.changeEverything($0) }
            try run.expect(store.calls, is: .init(reads: 0, writes: 1, changes: 11), "the calls")
            try run.expect(try run.item("new")?["count"], is: 1, "the new item")
        }
        StoreRule(
            "fault.every-change",
            "A transaction that fails at any of its changes is rolled back completely.",
            level: .full
        ) { run in
            try run.seedEverything()
            for number in 1...11 {
                let store = FaultingStore(try run.store)
                store.faults.failingChange = number
                try run.expectUnchanged("the store after a failure at change \(number)") {
                    try run.expect(throws: .inputOutput, "the write that fails at change \(number)") {
                        try store.write { try Self.changeEverything($0) }
                    }
                }
                try run.expect(store.calls.changes, is: number, "the number of changes made")
            }
            try run.store.write { try Self.changeEverything($0) }
            try run.expect(try run.item("new")?["count"], is: 1, "the item after a successful write")
        }
        StoreRule(
            "fault.every-change.reopened",
            "A transaction that fails at any of its changes is rolled back completely, also after reopening.",
            level: .full,
            requirement: .declared(.durable)
        ) { run in
            try run.seedEverything()
            for number in 1...11 {
                try run.expectUnchanged("the store, reopened after a failure at change \(number)") {
                    let store = FaultingStore(try run.store)
                    store.faults.failingChange = number
                    try? store.write { try Self.changeEverything($0) }
                    try run.reopen()
                }
            }
        }
        StoreRule(
            "fault.commit", "A transaction that fails at its end is rolled back completely.", level: .full
        ) {
            run in
            try run.seedEverything()
            for number in 1...3 {
                let store = FaultingStore(try run.store)
                store.faults.failingCommit = 1
                try run.expectUnchanged("the store, round \(number)") {
                    try run.expect(throws: .inputOutput, "the write") {
                        try store.write { try Self.changeEverything($0) }
                    }
                }
            }
        }
        StoreRule(
            "fault.after-commit",
            "A transaction whose commit has an unknown outcome may have been committed.",
            level: .full
        ) { run in
            try run.seedEverything()
            let store = FaultingStore(try run.store)
            store.faults.failingAfterCommit = 1
            try run.expect(throws: .outcomeUnknown, "the write") {
                try store.write { try Self.changeEverything($0) }
            }
            try run.expect(try run.item("new")?["count"], is: 1, "the item")
            try run.expect(try run.queue(), is: [2, 100], "the queue")
        }
        failingReads
        StoreRule(
            "fault.interleaved",
            "When transactions fail and succeed alternately, only the successful ones have an effect.",
            level: .full
        ) { run in
            for round in 1...30 {
                try? run.store.write { transaction in
                    try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
                    try transaction.upsert(
                        [Item(id: "a", fields: ["count": .int(Int64(round))])], in: "Thing")
                    if round % 3 == 0 { throw AppError() }
                }
            }
            try run.expect(try run.lastOperationID(), is: 20, "the last operation id")
            try run.expect(try run.queue().count, is: 20, "the operations")
            try run.expect(try run.item("a")?["count"], is: 29, "the item of the last successful transaction")
        }
    }
}

extension FaultingStore.Calls: ExactlyDescribed {
    package var exactDescription: String { "\(reads) reads, \(writes) writes, \(changes) changes" }
}
