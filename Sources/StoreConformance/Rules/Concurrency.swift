// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Concurrent use of one store.
    @RuleList static var concurrency: [StoreRule] {
        StoreRule(
            "concurrent.no-lost-updates", "Writes are serialized: no update is lost.",
            level: .concurrent
        ) { run in
            try run.expectNoLostUpdates(in: [try run.store])
        }
        StoreRule(
            "concurrent.one-writer", "Bodies of writes never run concurrently.", level: .concurrent
        ) { run in
            let store = try run.store
            let (inside, most) = (Shared(0), Shared(0))
            try run.runConcurrently(
                (0..<8).map { thread in
                    {
                        for _ in 0..<15 {
                            try store.write { transaction in
                                inside.change { $0 += 1 }
                                let now = inside.value
                                most.change { $0 = max($0, now) }
                                try transaction.upsert([Item(id: "t\(thread)")], in: "Thing")
                                Thread.sleep(forTimeInterval: 0.0005)
                                inside.change { $0 -= 1 }
                            }
                        }
                    }
                })
            try run.expect(most.value, is: 1, "the maximum number of concurrent write bodies")
        }
        StoreRule(
            "concurrent.operation-ids",
            "Operation ids allocated by many threads are unique, complete and in order.", level: .concurrent
        ) { run in
            let store = try run.store
            try run.runConcurrently(
                (0..<8).map { thread in
                    {
                        for step in 0..<25 {
                            try store.write { transaction in
                                let id = try transaction.lastOperationID() + 1
                                Thread.sleep(forTimeInterval: 0.0002)
                                try transaction.put(
                                    Fixture.operation(id, item: "t\(thread)-\(Fixture.number(step))"))
                            }
                        }
                    }
                })
            try run.expect(try run.queue(), is: Array(1...200), "the ids")
            let items = try run.store.read { try $0.operations(after: 0, in: nil, limit: .max).map(\.itemID) }
            for thread in 0..<8 {
                let own = items.filter { $0.hasPrefix("t\(thread)-") }
                try run.expect(
                    own, is: own.sorted(), "the steps of thread \(thread), in order")
                try run.expect(own.count, is: 25, "the number of steps of thread \(thread)")
            }
        }
        StoreRule(
            "concurrent.whole-transactions", "Concurrent readers see only whole transactions.",
            level: .concurrent
        ) { run in
            let store = try run.store
            try run.put((0..<8).map { Item(id: "\($0)", fields: ["count": 100]) })
            let (reading, transfers) = (Shared(3), Shared(0))
            let group = ThreadGroup()
            for _ in 0..<3 {
                group.start {
                    defer { reading.change { $0 -= 1 } }
                    var reads = 0
                    while reads < 60 || transfers.value < 60 {
                        reads += 1
                        let items = try store.read { try $0.items(matching: TableQuery("Thing")).items }
                        let sum = items.compactMap { $0["count"]?.intValue }.reduce(0, +)
                        if sum != 800 { throw TornRead(sum: sum) }
                    }
                }
            }
            for seed in 0..<2 as Range<UInt64> {
                group.start {
                    var random = SeededGenerator(seed: seed)
                    while reading.value > 0 {
                        try Self.transfer(in: store, random: &random)
                        transfers.change { $0 += 1 }
                    }
                }
            }
            do { try run.join(group) } catch let torn as TornRead {
                throw run.failure(
                    "A reader computed the sum of all accounts of a bank.", expected: "800",
                    actual: "\(torn.sum): half a transfer")
            }
            let counts = try run.find(TableQuery("Thing")).items.compactMap { $0["count"]?.intValue }
            try run.expect(counts.reduce(0, +), is: 800, "the sum of the accounts")
        }
        StoreRule(
            "concurrent.read-your-writes",
            "A read that begins after a write has returned sees the write, on any thread.", level: .concurrent
        ) { run in
            let store = try run.store
            let (latest, stale) = (Shared<Int64>(0), Shared<[Int64]>([]))
            let write = { (count: Int64) throws in
                let item = Item(id: "n", fields: ["count": .int(count)])
                try store.write { try $0.upsert([item], in: "Thing") }
                latest.change { $0 = count }
            }
            let read: @Sendable () throws -> Void = {
                let expected = latest.value
                let seen = try store.read { try $0.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0 }
                if seen < expected { stale.change { $0.append(seen - expected) } }
            }
            for count in Int64(1)...6 {
                try write(count)
                try run.runConcurrently([read, read, read])
            }
            let reading = Shared(3)
            let group = ThreadGroup()
            for _ in 0..<3 {
                group.start {
                    defer { reading.change { $0 -= 1 } }
                    var reads = 0
                    while reads < 60 || latest.value < 60 {
                        reads += 1
                        try read()
                    }
                }
            }
            while reading.value > 0 { try write(latest.value + 1) }
            try run.join(group)
            try run.expect(stale.value, is: [], "the lag of stale reads")
        }
        StoreRule(
            "concurrent.failed-writes", "A failed write does not affect concurrent writes.",
            level: .concurrent
        ) { run in
            let store = try run.store
            try run.runConcurrently(
                (0..<6).map { thread in
                    {
                        for step in 0..<20 {
                            try? store.write { transaction in
                                try transaction.upsert([Item(id: "t\(thread)-\(step)")], in: "Thing")
                                if thread % 2 == 1 { throw AppError() }
                            }
                        }
                    }
                })
            let ids = try run.ids()
            try run.expect(ids.count, is: 60, "the number of items")
            try run.expect(
                ids.allSatisfy { "024".contains($0.dropFirst().prefix(1)) },
                "All items are from successful writes.")
        }
        StoreRule(
            "concurrent.delete-and-put",
            "Operations put and removed by many threads are neither lost nor duplicated.",
            level: .concurrent
        ) { run in
            let store = try run.store
            let taken = Shared<[Int64]>([])
            let producers: [@Sendable () throws -> Void] = (0..<4).map { _ in
                {
                    for _ in 0..<20 {
                        try store.write { try $0.put(Fixture.operation(try $0.lastOperationID() + 1)) }
                    }
                }
            }
            let consumers: [@Sendable () throws -> Void] = (0..<4).map { _ in
                {
                    var rest = 20
                    while rest > 0 {
                        let id = try store.write { transaction -> Int64? in
                            guard let first = try transaction.operations(after: 0, in: nil, limit: 1).first
                            else { return nil }
                            try transaction.removeOperation(id: first.id)
                            return first.id
                        }
                        guard let id else { continue }
                        taken.change { $0.append(id) }
                        rest -= 1
                    }
                }
            }
            try run.runConcurrently(producers + consumers)
            try run.expect(taken.value.sorted(), is: Array(1...80), "the removed ids")
            try run.expect(try run.queue(), is: [], "the queue")
            try run.expect(try run.lastOperationID(), is: 80, "the last operation id")
        }
        closingConcurrently
        StoreRule(
            "concurrent.reader-beside-writer",
            "A read does not wait for a running write, and does not see it.",
            level: .concurrent, requirement: .declared(.concurrentReaders)
        ) { run in
            let store = try run.store
            try run.put([Item(id: "old")])
            let seen = Shared<[String]>([])
            let isDone = Signal()
            let group = ThreadGroup()
            let finished = try store.write { transaction in
                try transaction.upsert([Item(id: "new")], in: "Thing")
                group.start {
                    let ids = try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                    seen.change { $0 = ids }
                    isDone.send()
                }
                return run.wait(for: isDone)
            }
            try run.expect(finished, "The read finished while the write was running.")
            try run.join(group)
            try run.expect(seen.value, is: ["old"], "the ids in the read")
        }
        StoreRule(
            "concurrent.reader-beside-writer.undeclared",
            "In a store without concurrent readers, a read waits for the running write.",
            level: .concurrent, requirement: .undeclared(.concurrentReaders)
        ) { run in
            let store = try run.store
            let isDone = Signal()
            let group = ThreadGroup()
            let finished = try store.write { transaction in
                try transaction.upsert([Item(id: "new")], in: "Thing")
                group.start {
                    _ = try store.read { try $0.item(id: "new", in: "Thing") }
                    isDone.send()
                }
                return isDone.wait(seconds: 0.3)
            }
            try run.expect(
                !finished, "The read waited for the write; if it does not, declare hasConcurrentReaders.")
            try run.join(group)
        }
        StoreRule(
            "concurrent.snapshot",
            "A read sees one state while concurrent writes are committed, and does not block them.",
            level: .concurrent, requirement: .declared(.concurrentReaders)
        ) { run in
            let store = try run.store
            try run.seedEverything()
            let group = ThreadGroup()
            let isDone = Signal()
            try store.read { snapshot in
                let before = try Self.samples(snapshot)
                group.start {
                    for _ in 0..<5 { try store.write { try Self.changeEverything($0) } }
                    isDone.send()
                }
                try run.expect(
                    run.wait(for: isDone), "The writes finished while the read was running.")
                try run.expect(try Self.samples(snapshot), is: before, "the snapshot after the writes")
            }
            try run.join(group)
            try run.expect(try run.item("new")?["count"], is: 1, "the item in the next read")
        }
        StoreRule(
            "concurrent.readers", "Eight concurrent readers see the same as one.", level: .concurrent
        ) { run in
            try run.put(Fixture.items)
            let store = try run.store
            let query = TableQuery("Thing").where(.column("count") > 0).order(byDescending: "ratio")
                .includingTotalCount()
            let expected = try run.find(query).exactDescription
            let different = Shared<[String]>([])
            try run.runConcurrently(
                (0..<8).map { _ in
                    {
                        for _ in 0..<15 {
                            let found = try store.read { try $0.items(matching: query) }.exactDescription
                            if found != expected { different.change { $0.append(found) } }
                        }
                    }
                })
            try run.expect(different.value, is: [], "results that differ")
        }
    }

    /// Transfers a random amount between two accounts.
    private static func transfer(in store: any SyncContextDataSource, random: inout SeededGenerator) throws {
        let (from, to) = (Int.random(in: 0..<8, using: &random), Int.random(in: 0..<8, using: &random))
        let amount = Int64.random(in: 1...50, using: &random)
        try store.write { transaction in
            for (id, change) in [("\(from)", -amount), ("\(to)", amount)] {
                let count = try transaction.item(id: id, in: "Thing")?["count"]?.intValue ?? 0
                try transaction.upsert([Item(id: id, fields: ["count": .int(count + change)])], in: "Thing")
            }
        }
    }

    /// Returns samples of every kind of data in a snapshot.
    static func samples(_ snapshot: any StoreSnapshot) throws -> [String] {
        var seen = try snapshot.items(matching: TableQuery("Thing").includingTotalCount()).items.map(
            \.exactDescription)
        seen.append(try snapshot.item(id: "new", in: "Thing").exactDescription)
        seen.append(try snapshot.operations(after: 0, in: nil, limit: 99).exactDescription)
        seen.append(try snapshot.operationCount(in: nil).exactDescription)
        seen.append(try snapshot.operationErrors(in: nil).exactDescription)
        seen.append(try snapshot.configValue(Fixture.key("k")).exactDescription)
        return seen
    }

    private struct TornRead: Error { let sum: Int64 }
}
