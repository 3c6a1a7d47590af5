// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore

extension StoreRule {
    /// Processes that are killed.
    @RuleList static var crashes: [StoreRule] {
        StoreRule(
            "crash.any-time",
            "A process killed at any time loses no write that returned, and leaves none half done.",
            level: .durable, need: .childProgram
        ) { run in
            var crashes = try CrashRun(run)
            var random = SeededGenerator(seed: run.seed)
            for _ in 0..<run.effort.kills {
                try crashes.kill(afterAcknowledged: random.below(12), atPercent: random.below(150))
            }
            try run.expect(crashes.kills, is: run.effort.kills, "how many processes were killed at work")
        }
        StoreRule(
            "crash.every-change", "A process that ends at any change of a transaction leaves nothing of it.",
            level: .durable, need: .childProgram
        ) { run in
            var crashes = try CrashRun(run)
            for transaction in 0..<2 {
                for change in 1...CrashScript.length {
                    try crashes.end(atChange: transaction * CrashScript.length + change)
                }
            }
            try run.expect(
                crashes.kills, is: 2 * CrashScript.length, "how many processes ended where they should")
        }
    }
}

/// A store whose processes keep being killed, and a memory store that is told only what may have been kept.
private struct CrashRun {
    private let run: RuleRun
    private let program: ChildProgram
    private let path: String
    private let model: MemoryStore
    private(set) var kills = 0
    /// How long a process took for a write, about.
    private var pace = Duration.milliseconds(1)

    init(_ run: RuleRun) throws {
        guard let program = run.harness.child else {
            throw run.failure("The harness", expected: "a child program", actual: "none")
        }
        self.run = run
        self.program = program
        path = try run.path("crashing")
        model = try MemoryStore(tables: Fixture.tables)
    }

    /// Lets a process work until it has acknowledged so many writes, and kills it at that part of the next write or
    /// of the one behind it, by the pace of the writes so far: in its body, while it commits, or before it tells.
    mutating func kill(afterAcknowledged count: Int, atPercent percent: Int) throws {
        var child = try start(count: 1000)
        var last: Int64 = 0
        var acknowledged: [ContinuousClock.Instant] = []
        for _ in 0..<count {
            last = child.next() ?? last
            acknowledged.append(.now)
        }
        if count > 1 { pace = (acknowledged[count - 1] - acknowledged[0]) / (count - 1) }
        let delay = pace * percent / 100
        let moment = (acknowledged.last ?? .now) + delay
        run.trace.note("kill \(delay) after operation \(last) was acknowledged")
        while ContinuousClock.now < moment {}
        child.kill()
        while let number = child.next() { last = number }
        try check(acknowledged: last, wasKilled: child.wait())
    }

    /// Lets a process work that ends itself before its change of that number.
    mutating func end(atChange change: Int) throws {
        var child = try start(count: 3, crashingChange: change)
        run.trace.note("the process ends before its change \(change)")
        var last: Int64 = 0
        while let number = child.next() { last = number }
        try check(acknowledged: last, wasKilled: child.wait())
    }

    private func start(count: Int, crashingChange: Int? = nil) throws -> ChildProcess {
        run.trace.note("start a process")
        return try ChildProcess(
            program,
            arguments: CrashChild.arguments(
                path: path, seed: run.seed, count: count, crashingChange: crashingChange))
    }

    /// What is there is what was there after the last acknowledged write, or after the one behind it.
    private mutating func check(acknowledged: Int64, wasKilled: Bool) throws {
        if wasKilled { kills += 1 }
        let found = try run.with("crashing") { try StoreDump($0).lines }
        try replay(upTo: acknowledged)
        var expected = try StoreDump(model).lines
        if found != expected {
            try replay(upTo: try lastReplayed() + 1)
            expected = try StoreDump(model).lines
        }
        try run.expect(
            found, is: expected,
            "the store after a process was killed that had acknowledged \(acknowledged)")
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
