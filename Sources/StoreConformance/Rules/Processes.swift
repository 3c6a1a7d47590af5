// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// One store that several processes have open.
    @RuleList static var processes: [StoreRule] {
        StoreRule(
            "capability.multi-process.processes",
            "Writes of several processes are serialized, and each process sees those of the others that have returned.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            let store = try run.store
            try run.put([Item(id: "n", fields: ["count": 0])])
            var own: [Int64] = []
            var others: [Int64] = []
            var unseen: [Int64] = []
            try run.withChild(.increments, count: 50) { child in
                while let id = child.next() {
                    others.append(id)
                    let item = try store.read { try $0.operation(id: id)?.itemID }
                    if item != "child" { unseen.append(id) }
                    own.append(try IncrementScript.perform(in: store, item: "suite"))
                }
            }
            try run.expect(others.count, is: 50, "the number of writes of the other process")
            try run.expect(unseen, is: [], "the operations of the other process that a read did not find")
            try run.expect((own + others).sorted(), is: Array(1...100), "the operation ids of both processes")
            try run.expect(try run.queue(), is: Array(1...100), "the queue")
            try run.expect(
                try run.item("n")?["count"], is: 100, "the count after 50 increments of each process")
            try run.expect(
                try StoreDump(try run.open()).lines, is: try StoreDump(store).lines,
                "the store in a later opening")
        }
        StoreRule(
            "capability.multi-process.processes.stamp",
            "The external commit stamp changes after commits of other processes, and only then.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            let store = try run.store
            try run.put([Item(id: "n", fields: ["count": 0])])
            var stamp = try store.write { try $0.externalCommitStamp() }
            for round in 0..<3 {
                try run.withChild(.increments, count: 1) { child in
                    while child.next() != nil {}
                }
                let count = try run.item("n")?["count"]
                try run.expect(count, is: .int(Int64(round + 1)), "the count of the other processes")
                let changed = try store.write { try $0.externalCommitStamp() }
                try run.expect(changed != stamp, "The stamp changes after the commit of another process.")
                try run.put([Item(id: "own\(round)")])
                try run.expect(
                    try store.write { try $0.externalCommitStamp() }, is: changed,
                    "the stamp after the opening's own commit")
                stamp = changed
            }
        }
        StoreRule(
            "capability.multi-process.processes.locks",
            "While a process holds the push lock and the sync lock, other processes do not acquire them.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            let store = try run.store
            var hasWritten = false
            var push: (any StorePushLock)?
            var sync: (any StorePushLock)?
            try run.withChild(.script(crashingChange: nil), count: .max) { child in
                // The process acquires the locks before its first write, and writes until it is killed.
                hasWritten = child.next() != nil
                push = try store.tryLockPush()
                sync = try store.tryLockSync()
                child.kill()
            }
            try run.expect(hasWritten, "The other process has written.")
            try run.expect(push == nil, "The push lock of another process is not acquired.")
            try run.expect(sync == nil, "The sync lock of another process is not acquired.")
            push = try RuleRun.waiting { try store.tryLockPush() }
            try run.expect(push != nil, "The push lock is free after the other process has ended.")
            sync = try RuleRun.waiting { try store.tryLockSync() }
            try run.expect(sync != nil, "The sync lock is free after the other process has ended.")
            push?.release()
            sync?.release()
        }
    }
}

extension RuleRun {
    var childProgram: ChildProgram {
        get throws {
            guard let program = harness.child else {
                throw failure("The harness", expected: "a child program", actual: "none")
            }
            return program
        }
    }

    /// Starts a process that works on a store, runs the body, and waits for the end of the process. Kills it if the body
    /// throws.
    func withChild(
        _ work: CrashChild.Work, count: Int, on name: String = "store",
        _ body: (inout ChildProcess) throws -> Void
    ) throws {
        trace.record("start a process")
        var child = try ChildProcess(
            childProgram,
            arguments: CrashChild.arguments(path: try path(name), seed: seed, count: count, work))
        var problem: (any Error)?
        do { try body(&child) } catch {
            problem = error
            child.kill()
        }
        _ = child.wait()
        if let problem { throw problem }
    }
}
