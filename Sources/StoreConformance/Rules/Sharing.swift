// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Several openings of one store.
    @RuleList static var sharing: [StoreRule] {
        StoreRule(
            "capability.multi-process.refused",
            "A single-process store refuses a second opening with alreadyOpen, unless it stores nothing at its path.",
            level: .full, requirement: .undeclared(.multiProcess)
        ) { run in
            try run.put([Item(id: "first")])
            do {
                let second = try run.harness.open(at: try run.path(), tables: Fixture.tables)
                defer { try? second.close() }
                try second.write { try $0.upsert([Item(id: "second")], in: "Thing") }
                try run.expect(!second.capabilities.isDurable, "A durable store does not open twice.")
                let seen = try second.read { try $0.item(id: "first", in: "Thing") }
                try run.expect(
                    seen, is: nil, "the first opening's item in an undeclared second opening")
            } catch let error as StoreError {
                try run.expect(error.code == .alreadyOpen, "The error is alreadyOpen: \(error)")
            }
            try run.expect(try run.ids(), is: ["first"], "the ids afterwards")
        }
        StoreRule(
            "capability.multi-process.released", "A closed store can be reopened immediately.",
            level: .full, requirement: .undeclared(.multiProcess)
        ) { run in
            for round in 0..<10 {
                try run.reopen()
                try run.put([Item(id: "a", fields: ["count": .int(Int64(round))])])
                try run.expect(
                    try run.item("a")?["count"], is: .int(Int64(round)), "the item in round \(round)")
            }
        }
        StoreRule(
            "capability.multi-process.shared", "Two openings of a shared store see each other's writes.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            for round in 1...10 {
                let (writer, reader) = round % 2 == 0 ? (try run.store, second) : (second, try run.store)
                for change in DataChange.all {
                    // What an opening keeps of a read must not hide later changes.
                    _ = try StoreDump.linesOfRead(reader)
                    try writer.write { try change.make($0, Int64(round)) }
                    // The first access of the other opening is a read.
                    try run.expect(
                        try StoreDump.linesOfRead(reader), is: try StoreDump.linesOfRead(writer),
                        "a read of the other opening after a change of \(change.kind) in round \(round)")
                    try run.expect(
                        try StoreDump(reader).lines, is: try StoreDump(writer).lines,
                        "the other opening after a change of \(change.kind) in round \(round)")
                }
            }
            try run.expect(try run.queue(), is: Array(1...10), "the operation ids")
        }
        StoreRule(
            "capability.multi-process.close",
            "Closing one opening of a shared store does not close the others.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            try run.put([Item(id: "a")])
            try second.close()
            try run.put([Item(id: "b")])
            try run.expect(try run.ids(), is: ["a", "b"], "the ids")
        }
        StoreRule(
            "capability.multi-process.push-lock",
            "Only one opening of a shared store holds the push lock, until it releases it.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            try run.expectExclusive { try $0.tryLockPush() }
        }
        StoreRule(
            "capability.multi-process.sync-lock",
            "Only one opening of a shared store holds the sync lock, until it releases it; the push lock is another.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let push = try run.store.tryLockPush()
            try run.expectExclusive { try $0.tryLockSync() }
            push?.release()
        }
        StoreRule(
            "capability.multi-process.locked",
            "A shared store can be opened, read and written while another opening holds its locks.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            try run.put([Item(id: "a")])
            let locks = [try run.store.tryLockPush(), try run.store.tryLockSync()]
            try run.expect(locks.allSatisfy { $0 != nil }, "The locks are available.")
            let (harness, path, trace) = (run.harness, try run.path(), run.trace)
            let isDone = Signal()
            let seen = Shared<[String]>([])
            let group = ThreadGroup()
            group.start {
                defer { isDone.send() }
                trace.record("open 'store' on another thread")
                let second = TracingStore(try harness.open(at: path, tables: Fixture.tables), trace: trace)
                defer { try? second.close() }
                try second.write { try $0.upsert([Item(id: "b")], in: "Thing") }
                let ids = try second.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                seen.change { $0 = ids }
            }
            let isFinished = run.wait(for: isDone)
            // Ends a call that waits for a lock.
            for lock in locks { lock?.release() }
            try run.join(group)
            try run.expect(isFinished, "The other opening did not wait for the locks.")
            try run.expect(seen.value, is: ["a", "b"], "the ids in the other opening")
            try run.expect(try run.ids(), is: ["a", "b"], "the ids in the opening that held the locks")
        }
        StoreRule(
            "capability.multi-process.stamp",
            "The external commit stamp changes after commits of other openings, and only then.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            var stamp = try run.store.write { try $0.externalCommitStamp() }
            for round in 0..<3 as Range<Int64> {
                for change in DataChange.all {
                    try run.store.write { try change.make($0, 2 * round + 1) }
                    try run.expect(
                        try run.store.write { try $0.externalCommitStamp() }, is: stamp,
                        "the stamp after the opening's own commit of \(change.kind)")
                    try second.write { try change.make($0, 2 * round + 2) }
                    let changed = try run.store.write { try $0.externalCommitStamp() }
                    try run.expect(
                        changed != stamp,
                        "The stamp changes after the other opening's commit of \(change.kind).")
                    stamp = changed
                }
            }
        }
        StoreRule(
            "capability.multi-process.no-lost-updates",
            "Writes of two openings of a shared store are serialized: no update is lost.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            try run.expectNoLostUpdates(in: [try run.store, try run.open()])
        }
        StoreRule(
            "capability.multi-process.write-after-wait",
            "A write that waited for a write of another opening sees its changes.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            try run.expectNewestState(inWriteOf: try run.open(), waitingFor: try run.store)
        }
    }
}

/// A change of one kind of data. Changes with different numbers differ.
struct DataChange {
    let kind: String
    let make: @Sendable (_ transaction: any StoreTransaction, _ number: Int64) throws -> Void

    static let all = [
        DataChange(kind: "an item") { transaction, number in
            let fields: [String: ItemValue] = ["count": .int(number), "mark": .text("m\(number)")]
            try transaction.upsert([Item(id: "a", fields: fields)], in: "Thing")
        },
        DataChange(kind: "an operation") { transaction, _ in
            try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
        },
        DataChange(kind: "an error") { transaction, number in try transaction.put(Fixture.error(number)) },
        DataChange(kind: "a config value") { transaction, number in
            try transaction.setConfigValue("\(number)", for: Fixture.key("k"))
        },
    ]
}

extension RuleRun {
    /// Expects that two openings of the store acquire a lock alternately, never together.
    fileprivate func expectExclusive(
        _ acquire: (any SyncContextDataSource) throws -> (any StorePushLock)?
    ) throws {
        let second = try open()
        for round in 0..<3 {
            let lock = try acquire(store)
            try expect(lock != nil, "The lock is available in round \(round).")
            try expect(try acquire(second) == nil, "The other opening does not acquire it.")
            try expect(try acquire(store) == nil, "The same opening does not acquire it again.")
            lock?.release()
            lock?.release()
            let other = try acquire(second)
            try expect(other != nil, "The other opening acquires it after release.")
            lock?.release()
            try expect(try acquire(store) == nil, "A lock that is released again does not free the other's.")
            other?.release()
        }
    }
}
