// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore

extension StoreRule {
    /// Killed processes.
    @RuleList static var crashes: [StoreRule] {
        StoreRule(
            "crash.any-time",
            "A process that is killed at any time loses no returned write and leaves no partial one.",
            level: .durable, requirement: .childProgram
        ) { run in
            var crashes = try CrashRun(run)
            var random = SeededGenerator(seed: run.seed)
            for _ in 0..<run.effort.kills {
                try crashes.kill(afterAcknowledged: random.below(12), atPercent: random.below(150))
            }
            try run.expect(
                crashes.kills, is: run.effort.kills, "the number of processes killed while running")
            try crashes.expectWrites()
        }
        StoreRule(
            "crash.every-change",
            "A process that is killed at any change of a transaction leaves nothing of the transaction.",
            level: .durable, requirement: .childProgram
        ) { run in
            var crashes = try CrashRun(run)
            for transaction in 0..<2 {
                for change in 1...CrashScript.length {
                    try crashes.end(atChange: transaction * CrashScript.length + change)
                }
            }
            try run.expect(
                crashes.kills, is: 2 * CrashScript.length, "the number of processes killed at their change")
            try crashes.expectWrites()
        }
        StoreRule(
            "crash.locks",
            "The locks of a killed process are released within ten seconds: the store opens, and the push lock is free.",
            level: .durable, requirement: .childProgram
        ) { run in
            var crashes = try CrashRun(run)
            for _ in 0..<3 { try crashes.end(atChange: 1) }
            try crashes.expectFreeLocks()
        }
    }
}

/// A store whose processes are killed, with a memory store as the model of its committed transactions.
struct CrashRun {
    private let run: RuleRun
    private let program: ChildProgram
    private let path: String
    /// The store in another opening, which stays open; `nil` to open it after each killed process.
    private let openStore: (any SyncContextDataSource)?
    private let model: MemoryStore
    private(set) var kills = 0
    /// The approximate time that a process takes for a write.
    private var writeDuration = Duration.milliseconds(1)

    init(_ run: RuleRun, keepsOpen: Bool = false) throws {
        self.run = run
        program = try run.childProgram
        path = try run.path("crashing")
        openStore = keepsOpen ? try run.open("crashing") : nil
        model = try MemoryStore(tables: Fixture.tables)
    }

    /// Starts a process, waits for `count` acknowledged writes and kills it after a fraction of the time of a write:
    /// in the body, during the commit, or before the acknowledgement.
    mutating func kill(afterAcknowledged count: Int, atPercent percent: Int) throws {
        var child = try start(count: .max)
        var last: Int64 = 0
        var acknowledged: [ContinuousClock.Instant] = []
        for _ in 0..<count {
            last = child.next() ?? last
            acknowledged.append(.now)
        }
        if count > 1 { writeDuration = (acknowledged[count - 1] - acknowledged[0]) / (count - 1) }
        let delay = writeDuration * percent / 100
        let moment = (acknowledged.last ?? .now) + delay
        run.trace.record("kill \(delay) after operation \(last) was acknowledged")
        // Busy-waits, because a sleep is too coarse for delays shorter than a write.
        while ContinuousClock.now < moment {}
        child.kill()
        while let number = child.next() { last = number }
        try check(acknowledged: last, wasKilled: child.wait())
    }

    /// Starts a process that kills itself before the given change.
    mutating func end(atChange change: Int) throws {
        var child = try start(count: 3, crashingChange: change)
        run.trace.record("the process kills itself before its change \(change)")
        var last: Int64 = 0
        while let number = child.next() { last = number }
        try check(acknowledged: last, wasKilled: child.wait())
    }

    private func start(count: Int, crashingChange: Int? = nil) throws -> ChildProcess {
        run.trace.startPart("start a process")
        return try ChildProcess(
            program,
            arguments: CrashChild.arguments(
                path: path, seed: run.seed, count: count, .script(crashingChange: crashingChange)))
    }

    /// Expects the contents after the last acknowledged write, or after the one that followed it.
    private mutating func check(acknowledged: Int64, wasKilled: Bool) throws {
        if wasKilled { kills += 1 }
        let (first, found) = try withStore { store in
            // A write can remove what a transaction has left behind.
            let first = try StoreDump.linesOfRead(store)
            // It waits for the commit of a killed process that its server has not completed.
            try store.write { _ in }
            return (first, try StoreDump(store).lines)
        }
        if openStore != nil, acknowledged > 0 {
            // Otherwise the process and the opening that stays open do not share the store.
            let last = try lastReplayed()
            try run.expect(
                acknowledged > last,
                "The process continued after operation \(last), and acknowledged \(acknowledged).")
        }
        try replay(upTo: acknowledged)
        var (expected, states) = (try StoreDump(model).lines, [try StoreDump.linesOfRead(model)])
        if found != expected {
            try replay(upTo: try lastReplayed() + 1)
            expected = try StoreDump(model).lines
            states.append(try StoreDump.linesOfRead(model))
        }
        try run.expect(states.contains(first), "The first read shows the state of a whole transaction.")
        try run.expect(
            found, is: expected,
            "the store after a process was killed that had acknowledged operation \(acknowledged)")
    }

    /// Expects that the locks of the processes, which were all killed, become free.
    func expectFreeLocks() throws {
        try withStore { store in
            let push = try RuleRun.waiting { try store.tryLockPush() }
            try run.expect(push != nil, "The push lock is free.")
            let sync = try RuleRun.waiting { try store.tryLockSync() }
            try run.expect(sync != nil, "The sync lock is free.")
            push?.release()
            sync?.release()
        }
    }

    private func withStore<T>(_ body: (any SyncContextDataSource) throws -> T) throws -> T {
        if let openStore { return try body(openStore) }
        return try run.withStoreOfKilledProcess("crashing", body)
    }

    /// Makes the transaction that follows the last one, in the opening that stays open.
    func write() throws {
        try withStore { store in
            let number = try lastReplayed() + 1
            run.trace.record("write the transaction \(number) in the opening that stays open")
            try store.write { try CrashScript(seed: run.seed).perform(number, $0) }
            try replay(upTo: number)
            try run.expect(
                try StoreDump(store).lines, is: try StoreDump(model).lines,
                "the opening that stays open after its own write")
        }
    }

    /// Expects that the processes have written: otherwise the rule shows nothing.
    func expectWrites() throws {
        try run.expect(lastReplayed() > 0, "A process has acknowledged a write before it was killed.")
    }

    private func lastReplayed() throws -> Int64 { try model.write { try $0.lastOperationID() } }

    private func replay(upTo last: Int64) throws {
        var number = try lastReplayed()
        while number < last {
            number += 1
            try model.write { try CrashScript(seed: run.seed).perform(number, $0) }
        }
    }
}

extension RuleRun {
    /// Opens the store, waits for the locks of a killed process if it has to, runs the body and closes the store.
    func withStoreOfKilledProcess<T>(
        _ name: String, _ body: (any SyncContextDataSource) throws -> T
    ) throws -> T {
        let opened = try Self.waiting {
            do { return try open(name) } catch let error as StoreError
                where error.code == .alreadyOpen
            {
                return nil
            }
        }
        let store = try opened ?? open(name)
        let result = Result { try body(store) }
        try store.close()
        return try result.get()
    }

    /// Repeats the body until it returns a value, at most for the time that a killed process may keep its locks.
    static func waiting<T>(for body: () throws -> T?) throws -> T? {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            if let value = try body() { return value }
            if ContinuousClock.now > end { return nil }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}
