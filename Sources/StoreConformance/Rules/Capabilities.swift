// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Declared capabilities are present; undeclared ones are not.
    @RuleList static var capabilities: [StoreRule] {
        StoreRule("capability.constant", "Capabilities never change, and every opening declares the same.") {
            run in
            let store = try run.store
            let first = store.capabilities
            try run.seedEverything()
            try run.expect(store.capabilities == first, "The capabilities after writing are those before.")
            let other = try run.open("other")
            try run.expect(other.capabilities == first, "Another store declares the same.")
        }
        StoreRule("capability.id-length", "A store supports ids of 1020 bytes: 255 characters of 4 bytes.") {
            run in
            let length = try run.store.capabilities.maxIDLength
            try run.expect(length >= ItemID.maxUTF8Length, "maxIDLength \(length) is at least 1020.")
            try run.expectExact(Item(id: String(repeating: "\u{1F600}", count: 255)), "an id of 1020 bytes")
        }
        StoreRule(
            "capability.id-length.unlimited", "A store without a limit supports ids of any length.",
            level: .full, requirement: .declared(.unlimitedIDs)
        ) { run in
            for length in [1021, 5000, 70_000] {
                try run.expectExact(
                    Item(id: String(repeating: "i", count: length)), "an id of \(length) bytes")
            }
        }
        StoreRule(
            "capability.id-length.limit",
            "An id longer than declared throws unsupported and changes nothing.",
            level: .full, requirement: .undeclared(.unlimitedIDs)
        ) { run in
            let longest = String(repeating: "i", count: try run.store.capabilities.maxIDLength)
            try run.expectExact(Item(id: longest), "the longest id")
            try run.expectUnchanged("the store") {
                try run.expect(throws: .unsupported, "an id that is one byte longer") {
                    try run.put([Item(id: "short"), Item(id: longest + "i")])
                }
            }
        }
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
            for round in 1...20 {
                let (writer, reader) = round % 2 == 0 ? (try run.store, second) : (second, try run.store)
                let id = try writer.write { transaction in
                    let id = try transaction.lastOperationID() + 1
                    try transaction.put(Fixture.operation(id))
                    try transaction.upsert([Item(id: "a", fields: ["count": .int(id)])], in: "Thing")
                    return id
                }
                try run.expect(id, is: Int64(round), "the operation id in round \(round)")
                let seen = try reader.read { try $0.item(id: "a", in: "Thing")?["count"] }
                try run.expect(seen, is: .int(id), "the item in the other opening in round \(round)")
            }
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
            let second = try run.open()
            for round in 0..<3 {
                let lock = try run.store.tryLockPush()
                try run.expect(lock != nil, "The lock is available in round \(round).")
                try run.expect(try second.tryLockPush() == nil, "The other opening does not acquire it.")
                try run.expect(
                    try run.store.tryLockPush() == nil, "The same opening does not acquire it again.")
                lock?.release()
                lock?.release()
                let other = try second.tryLockPush()
                try run.expect(other != nil, "The other opening acquires it after release.")
                other?.release()
            }
        }
        StoreRule(
            "capability.multi-process.stamp",
            "The external commit stamp changes after commits of other openings, and only then.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            var stamp = try run.store.write { try $0.externalCommitStamp() }
            for round in 0..<3 {
                try run.put([Item(id: "own\(round)")])
                try run.expect(
                    try run.store.write { try $0.externalCommitStamp() }, is: stamp,
                    "the stamp after the opening's own commit")
                try second.write { try $0.upsert([Item(id: "other\(round)")], in: "Thing") }
                let changed = try run.store.write { try $0.externalCommitStamp() }
                try run.expect(changed != stamp, "The stamp changes after the other opening's commit.")
                stamp = changed
            }
        }
        StoreRule(
            "capability.durable.undeclared",
            "A store that is not durable reopens in the state after some earlier write, never in the middle of one.",
            level: .durable, requirement: .undeclared(.durable)
        ) { run in
            var states = [try StoreDump(run.store).lines]
            for id: Int64 in 1...5 {
                try run.store.write { transaction in
                    try transaction.upsert(
                        [Item(id: "a", fields: ["count": .int(id)]), Item(id: "i\(id)")], in: "Thing")
                    try transaction.put(Fixture.operation(id))
                }
                states.append(try StoreDump(run.store).lines)
            }
            try run.reopen()
            let found = try StoreDump(run.store).lines
            try run.expect(states.contains(found), "The state \(found) is an earlier state of the store.")
        }
        StoreRule(
            "capability.indexes.declared",
            "A query on an indexed column is faster than one on an unindexed column.",
            level: .full, requirement: .declared(.indexes)
        ) { run in
            let ratio = try run.indexedToScannedTime { $0 < 0.5 }
            try run.expect(
                ratio < 0.5, "An indexed query takes \(ratio) of the time of a scan, less than half.")
        }
        StoreRule(
            "capability.indexes.undeclared",
            "A store that does not declare indexes is not ten times faster on indexed columns.",
            level: .full, requirement: .undeclared(.indexes)
        ) { run in
            let ratio = try run.indexedToScannedTime { $0 > 0.1 }
            try run.expect(
                ratio > 0.1, "An indexed query takes \(ratio) of the time of a scan; declare usesIndexes.")
        }
    }
}

extension RuleRun {
    /// Measures the time of an indexed query as a fraction of the time of a scan.
    ///
    /// Uses the minimum of several measurements, and repeats the measurement while a busy machine distorts the result.
    fileprivate func indexedToScannedTime(until isExpected: (Double) -> Bool) throws -> Double {
        try put(
            (0..<4000).map { number in
                let text = ItemValue.text("t\(number)")
                return Item(id: Fixture.number(number), fields: ["mark": text, "label": text])
            })
        var ratio = 0.0
        for _ in 0..<4 {
            var (indexed, scanned) = (Duration.seconds(1000), Duration.seconds(1000))
            for _ in 0..<4 {
                indexed = min(indexed, try timeToFind("mark"))
                scanned = min(scanned, try timeToFind("label"))
            }
            ratio = indexed / scanned
            if isExpected(ratio) { break }
        }
        return ratio
    }

    private func timeToFind(_ column: String) throws -> Duration {
        try ContinuousClock().measure {
            for number in [7, 3999] {
                let found = try find(TableQuery("Thing").where(.column(column) == "t\(number)"))
                try expect(found.items.map(\.id), is: [Fixture.number(number)], "found by '\(column)'")
            }
        }
    }
}
