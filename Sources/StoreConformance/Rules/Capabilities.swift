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
            // An id has at most 255 Unicode scalars, and a database may count those.
            let maxLength = try run.store.capabilities.maxIDLength
            let (scalars, rest) = maxLength.quotientAndRemainder(dividingBy: 4)
            let longest = String(repeating: "\u{10437}", count: scalars) + String(repeating: "i", count: rest)
            try run.expectExact(Item(id: longest), "the longest id")
            try run.expectUnchanged("the store") {
                try run.expect(throws: .unsupported, "an id that is one byte longer") {
                    try run.put([Item(id: "short"), Item(id: longest + "i")])
                }
            }
        }
        StoreRule(
            "capability.files.declared",
            "A durable store with files keeps its data in the directory of its path.",
            level: .durable, requirement: .files
        ) { run in
            try run.put(Fixture.items)
            try run.expect(!(try run.filesOfStore()).isEmpty, "The directory contains a file after a write.")
        }
        StoreRule(
            "capability.files.undeclared", "A store without files at its path leaves its directory empty.",
            level: .durable, requirement: .noFiles
        ) { run in
            try run.put(Fixture.items)
            try run.expect(try run.filesOfStore(), is: [], "the files in the store's directory")
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
            let ratio = try run.indexedToScannedTime(subtractsReads: true) { $0 < 0.5 }
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
    /// Returns the names of the files in the directory of the store's path.
    fileprivate func filesOfStore() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory)/store").sorted()
    }

    /// Measures the time of an indexed query as a fraction of the time of a scan.
    ///
    /// Uses the minimum of all measurements, and measures again while a busy machine distorts the result.
    ///
    /// - Parameter subtractsReads: whether to subtract the time of reading an item by its id from both. Every read takes as
    ///   long, for example on the way to a server and back.
    fileprivate func indexedToScannedTime(
        subtractsReads: Bool = false, until isExpected: (Double) -> Bool
    ) throws -> Double {
        try put(
            (0..<4000).map { number in
                let text = ItemValue.text("t\(number)")
                return Item(id: Fixture.number(number), fields: ["mark": text, "label": text])
            })
        var ratio = 0.0
        let longest = Duration.seconds(1000)
        var (read, indexed, scanned) = (longest, longest, longest)
        for _ in 0..<10 {
            for _ in 0..<4 {
                read = min(read, try timeToRead())
                indexed = min(indexed, try timeToFind("mark"))
                scanned = min(scanned, try timeToFind("label"))
            }
            let overhead = subtractsReads ? read : .zero
            ratio = max(indexed - overhead, .zero) / max(scanned - overhead, .nanoseconds(1))
            if isExpected(ratio) { break }
        }
        return ratio
    }

    private func timeToRead() throws -> Duration {
        try ContinuousClock().measure {
            for number in Self.numbersToFind {
                let id = Fixture.number(number)
                try expect(try item(id)?.id, is: id, "read by its id")
            }
        }
    }

    private static let numbersToFind = [7, 3999]

    private func timeToFind(_ column: String) throws -> Duration {
        try ContinuousClock().measure {
            for number in Self.numbersToFind {
                let found = try find(TableQuery("Thing").where(.column(column) == "t\(number)"))
                try expect(found.items.map(\.id), is: [Fixture.number(number)], "found by '\(column)'")
            }
        }
    }
}
