// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Processes that may not open a store, or are killed while another has it open.
    @RuleList static var sharedProcesses: [StoreRule] {
        StoreRule(
            "capability.multi-process.refused.process",
            "A single-process store refuses an opening by another process with alreadyOpen until it is closed.",
            level: .full, requirement: .refusedProcess
        ) { run in
            try run.put([Item(id: "first")])
            try run.expectOpening(by: 1, is: .refused, "while this process has the store open")
            try run.expect(throws: .alreadyOpen, "a second opening in this process") { try run.open() }
            // Releasing one file descriptor can release the locks that the process has on the file.
            try run.expectOpening(by: 2, is: .refused, "after a refused opening in this process")
            try run.put([Item(id: "second")])
            try run.expect(try run.ids(), is: ["first", "second"], "the ids after the refused openings")
            try run.store.close()
            try run.expectOpening(by: 3, is: .succeeded, "after this process has closed the store")
            try run.withChild(.script(crashingChange: nil), count: .max) { child in
                try run.expect(child.next() != nil, "The other process has written.")
                try run.expect(throws: .alreadyOpen, "opening while another process has the store open") {
                    try run.open()
                }
                child.kill()
            }
        }
        StoreRule(
            "capability.multi-process.processes.locks-kept",
            "A refused or closed opening of this process does not release the locks that another one holds.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            let store = try run.store
            let locks = [try store.tryLockPush(), try store.tryLockSync()]
            try run.expect(locks.allSatisfy { $0 != nil }, "The locks are available.")
            try run.expectLocks(CrashChild.Locks.none, "while this process holds them")
            let second = try run.open()
            try run.expect(try second.tryLockPush() == nil, "Another opening does not acquire the push lock.")
            try run.expect(try second.tryLockSync() == nil, "Another opening does not acquire the sync lock.")
            // Releasing one file descriptor can release the locks that the process has on the file.
            try run.expectLocks(CrashChild.Locks.none, "after another opening did not acquire them")
            try second.close()
            try run.expectLocks(CrashChild.Locks.none, "after another opening was closed")
            for lock in locks { lock?.release() }
            try run.expectLocks(.both, "after this process has released them")
        }
        StoreRule(
            "capability.multi-process.processes.killed",
            "After a process was killed in a write, other openings see whole transactions only, and can write.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            var crashes = try CrashRun(run, keepsOpen: true)
            try crashes.write()
            for change in 1...CrashScript.length {
                // The process has committed one transaction in every other round.
                try crashes.end(atChange: change + (change % 2) * CrashScript.length)
                try crashes.write()
            }
            try run.expect(
                crashes.kills, is: CrashScript.length, "the number of processes killed at their change")
            var random = SeededGenerator(seed: run.seed)
            for _ in 0..<4 {
                try crashes.kill(afterAcknowledged: 2 + random.below(4), atPercent: random.below(150))
                try crashes.write()
            }
            try crashes.expectFreeLocks()
        }
    }
}

extension RuleRun {
    /// Starts a process that tries to acquire the locks. Expects the result.
    fileprivate func expectLocks(_ expected: CrashChild.Locks, _ subject: String) throws {
        var result: Int64?
        try withChild(.locks, count: 1) { child in result = child.next() }
        try expect(
            result.flatMap(CrashChild.Locks.init).map { "\($0)" }, is: "\(expected)",
            "the locks that another process acquires \(subject)")
    }

    /// Starts a process that opens the main store. Expects the result.
    fileprivate func expectOpening(
        by number: Int, is expected: CrashChild.Opening, _ subject: String
    ) throws {
        var result: Int64?
        try withChild(.opening, count: number) { child in result = child.next() }
        try expect(
            result.flatMap(CrashChild.Opening.init).map { "\($0)" }, is: "\(expected)",
            "an opening by another process \(subject)")
    }
}
