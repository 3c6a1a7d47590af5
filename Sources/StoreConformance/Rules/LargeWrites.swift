// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Writes of many megabytes, which a store must not commit in pieces.
    @RuleList static var largeWrites: [StoreRule] {
        StoreRule(
            "transaction.large", "When the body of a write of many megabytes throws, nothing has changed.",
            level: .full
        ) { run in
            try run.seedEverything()
            try run.expectUnchanged("the store after a large write whose body threw") {
                try? run.store.write { transaction in
                    try Self.upsertManyMegabytes(transaction)
                    throw AppError()
                }
            }
        }
        StoreRule(
            "concurrent.large-write", "Concurrent readers see all of a write of many megabytes or nothing.",
            level: .full, requirement: .declared(.concurrentReaders)
        ) { run in
            let store = try run.store
            let isWriting = Shared(true)
            let partial = Shared(0)
            let group = ThreadGroup()
            group.start {
                while isWriting.value {
                    let (first, last) = try store.read { snapshot in
                        (
                            try snapshot.item(id: "large0", in: "Thing2"),
                            try snapshot.item(id: "large\(Self.largeCount - 1)", in: "Thing2")
                        )
                    }
                    if (first == nil) != (last == nil) { partial.change { $0 += 1 } }
                }
            }
            for _ in 0..<3 {
                try store.write { try Self.upsertManyMegabytes($0) }
                try store.write { _ = try $0.deleteItems(matching: TableQuery("Thing2")) }
            }
            isWriting.change { $0 = false }
            try run.join(group)
            try run.expect(partial.value, is: 0, "the number of reads that saw a part of a write")
        }
        StoreRule(
            "crash.large",
            "A process that is killed in a write of many megabytes leaves nothing of it, or all of it.",
            level: .durable, requirement: .childProgram
        ) { run in
            var (last, kills) = (Int64(0), 0)
            let rounds = min(run.effort.kills, maxLargeKills) / 2
            for round in 0..<rounds {
                let percent = 10 + 85 * round / rounds
                let (acknowledged, wasKilled) = try run.killInLargeWrite(atPercent: percent)
                if wasKilled { kills += 1 }
                let numbers = try run.withStoreOfKilledProcess("crashing") { store in
                    try store.read(LargeScript.numbers)
                }
                try run.expect(
                    numbers.count, is: 1,
                    "the number of transactions that the items are of, after a process was killed at \(percent) % of a "
                        + "write")
                last = numbers.first.flatMap(\.self) ?? 0
                try run.expect(
                    acknowledged == 0 || [acknowledged, acknowledged + 1].contains(last),
                    "The write \(acknowledged) was the last one to return, and \(last) is the last one in the store."
                )
            }
            try run.expect(
                kills > 0 && last > 0 || rounds == 0, "Processes have written, and were killed while writing."
            )
        }
    }

    private static let maxLargeKills = 40

    private static let largeCount = 40

    /// Stores items of 400 kB each, 16 MB together.
    private static func upsertManyMegabytes(_ transaction: any StoreTransaction) throws {
        let text = String(repeating: "0123456789", count: 40_000)
        for index in 0..<largeCount {
            try transaction.upsert([Item(id: "large\(index)", fields: ["label": .text(text)])], in: "Thing2")
        }
    }
}

extension RuleRun {
    /// Kills a process in its third large write.
    ///
    /// - Returns: the number of writes that had returned, and whether the process was killed while it ran.
    fileprivate func killInLargeWrite(atPercent percent: Int) throws -> (acknowledged: Int64, wasKilled: Bool)
    {
        trace.startPart("start a process")
        var child = try ChildProcess(
            childProgram,
            arguments: CrashChild.arguments(path: try path("crashing"), seed: seed, count: 100, .large))
        var last = child.next() ?? 0
        let first = ContinuousClock.now
        last = child.next() ?? last
        let duration = ContinuousClock.now - first
        Thread.sleep(forTimeInterval: duration / .seconds(1) * Double(percent) / 100)
        child.kill()
        while let number = child.next() { last = number }
        return (last, child.wait())
    }
}
