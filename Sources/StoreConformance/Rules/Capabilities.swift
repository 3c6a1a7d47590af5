// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// What a store declares is true, and so is what it does not declare.
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
        StoreRule("capability.id-length", "A store takes ids of 255 characters of 4 bytes: 1020 bytes.") {
            run in
            let length = try run.store.capabilities.maxIDLength
            try run.expect(length >= ItemID.maxUTF8Length, "maxIDLength \(length) is at least 1020.")
            try run.expectExact(Item(id: String(repeating: "\u{1F600}", count: 255)), "an id of 1020 bytes")
        }
        StoreRule(
            "capability.id-length.unlimited", "A store without a limit takes ids of any length.",
            level: .full, need: .declared(.unlimitedIDs)
        ) { run in
            for length in [1021, 5000, 70_000] {
                try run.expectExact(
                    Item(id: String(repeating: "i", count: length)), "an id of \(length) bytes")
            }
        }
        StoreRule(
            "capability.id-length.limit", "A longer id than declared throws unsupported and changes nothing.",
            level: .full, need: .undeclared(.unlimitedIDs)
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
            "A store for one process refuses a second opening with alreadyOpen, unless it keeps nothing at its path.",
            level: .full, need: .undeclared(.multiProcess)
        ) { run in
            try run.put([Item(id: "first")])
            do {
                let second = try run.harness.open(at: try run.path(), tables: Fixture.tables)
                defer { try? second.close() }
                try second.write { try $0.upsert([Item(id: "second")], in: "Thing") }
                try run.expect(!second.capabilities.isDurable, "A durable store does not open twice.")
                let seen = try second.read { try $0.item(id: "first", in: "Thing") }
                try run.expect(
                    seen, is: nil, "the first's item in a second opening that is not declared to work")
            } catch let error as StoreError {
                try run.expect(error.code == .alreadyOpen, "The error is alreadyOpen: \(error)")
            }
            try run.expect(try run.ids(), is: ["first"], "the ids afterwards")
        }
        StoreRule(
            "capability.multi-process.released", "Once closed, a store can be opened again at once.",
            level: .full, need: .undeclared(.multiProcess)
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
            level: .concurrent, need: .declared(.multiProcess)
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
                try run.expect(seen, is: .int(id), "what the other opening sees in round \(round)")
            }
        }
        StoreRule(
            "capability.multi-process.close", "Closing one opening of a shared store leaves the others open.",
            level: .concurrent, need: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            try run.put([Item(id: "a")])
            try second.close()
            try run.put([Item(id: "b")])
            try run.expect(try run.ids(), is: ["a", "b"], "the ids")
        }
        StoreRule(
            "capability.multi-process.push-lock",
            "One opening of a shared store holds the push lock at a time, until it is released.",
            level: .concurrent, need: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            for round in 0..<3 {
                let lock = try run.store.tryLockPush()
                try run.expect(lock != nil, "The lock is free in round \(round).")
                try run.expect(try second.tryLockPush() == nil, "The other opening does not get it.")
                try run.expect(try run.store.tryLockPush() == nil, "Nor does the same one again.")
                lock?.release()
                lock?.release()
                let other = try second.tryLockPush()
                try run.expect(other != nil, "The other opening gets it when it is released.")
                other?.release()
            }
        }
        StoreRule(
            "capability.multi-process.stamp",
            "The stamp of other commits changes with those of other openings, and with no others.",
            level: .concurrent, need: .declared(.multiProcess)
        ) { run in
            let second = try run.open()
            var stamp = try run.store.write { try $0.externalCommitStamp() }
            for round in 0..<3 {
                try run.put([Item(id: "own\(round)")])
                try run.expect(
                    try run.store.write { try $0.externalCommitStamp() }, is: stamp,
                    "the stamp after a commit of its own")
                try second.write { try $0.upsert([Item(id: "other\(round)")], in: "Thing") }
                let changed = try run.store.write { try $0.externalCommitStamp() }
                try run.expect(changed != stamp, "The stamp is another one after the other's commit.")
                stamp = changed
            }
        }
        StoreRule(
            "capability.durable.undeclared",
            "A store that is not durable opens again with a state it once had, between two writes.",
            level: .durable, need: .undeclared(.durable)
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
            try run.expect(states.contains(found), "The state \(found) is one that the store had.")
        }
        StoreRule(
            "capability.indexes.declared",
            "A query on an indexed column is faster than one on another column.",
            level: .full, need: .declared(.indexes)
        ) { run in
            let ratio = try run.indexedToScannedTime { $0 < 0.5 }
            try run.expect(ratio < 0.5, "It takes \(ratio) of the time of a scan, less than half.")
        }
        StoreRule(
            "capability.indexes.undeclared",
            "A store that does not declare indexes is not ten times faster with them.",
            level: .full, need: .undeclared(.indexes)
        ) { run in
            let ratio = try run.indexedToScannedTime { $0 > 0.1 }
            try run.expect(ratio > 0.1, "It takes \(ratio) of the time of a scan; declare usesIndexes.")
        }
    }
}

extension RuleRun {
    /// How long finding one of many items takes by an indexed column, as a part of the time without.
    ///
    /// Each is the best of several, and a machine that is busy with something else gets further chances.
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
