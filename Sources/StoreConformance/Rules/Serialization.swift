// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// The moment at which a snapshot and a write begin, and at which a commit becomes visible.
    @RuleList static var serialization: [StoreRule] {
        StoreRule(
            "concurrent.snapshot.begin",
            "A snapshot of all data is fixed when the body of a read begins, not at the first question.",
            level: .concurrent, requirement: .declared(.concurrentReaders)
        ) { run in
            let store = try run.store
            try store.write { try NumberedData.put(1, $0) }
            for (index, question) in NumberedData.questions.enumerated() {
                let expected = try store.read(question.ask)
                let group = ThreadGroup()
                let seen = try store.read { snapshot in
                    let isWritten = Signal()
                    group.start {
                        try store.write { try NumberedData.put(Int64(index + 2), $0) }
                        isWritten.send()
                    }
                    try run.expect(
                        run.wait(for: isWritten), "The write finished while the read was running.")
                    return try question.ask(snapshot)
                }
                try run.join(group)
                try run.expect(
                    seen, is: expected,
                    "\(question.subject), asked first in the snapshot that began before the write")
                let later = try store.read(question.ask)
                try run.expect(later != expected, "The write has changed \(question.subject).")
            }
        }
        StoreRule(
            "concurrent.whole-transactions.every-kind",
            "Concurrent readers see items, operations, errors and config values of the same transaction.",
            level: .concurrent
        ) { run in
            try run.expectWholeTransactions(of: try run.store, readIn: try run.store)
        }
        StoreRule(
            "concurrent.write-after-wait", "A write that waited for another sees its changes.",
            level: .concurrent
        ) { run in
            try run.expectNewestState(inWriteOf: try run.store, waitingFor: try run.store)
        }
    }
}

/// A number that is part of data of every kind.
enum NumberedData {
    static func put(_ number: Int64, _ transaction: any StoreTransaction) throws {
        try transaction.upsert([Item(id: "n", fields: ["count": .int(number)])], in: "Thing")
        try transaction.put(Fixture.operation(number, item: "n"))
        try transaction.put(Fixture.error(number))
        try transaction.setConfigValue("\(number)", for: Fixture.key("k"))
    }

    /// Removes the operation and the error of an earlier number.
    static func remove(_ number: Int64, _ transaction: any StoreTransaction) throws {
        try transaction.removeOperation(id: number)
        try transaction.removeOperationError(operationID: number)
    }

    /// Returns the number of each kind of data, read in one order or its reverse.
    static func numbers(in snapshot: any StoreSnapshot, isReversed: Bool) throws -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for kind in isReversed ? kinds.reversed() : kinds {
            numbers[kind.name] = try kind.number(snapshot) ?? 0
        }
        return numbers
    }

    private struct Kind {
        let name: String
        let number: @Sendable (any StoreSnapshot) throws -> Int64?
    }

    private static let kinds = [
        Kind(name: "item") { try $0.item(id: "n", in: "Thing")?["count"]?.intValue },
        Kind(name: "operation") { try $0.operations(after: 0, in: nil, limit: .max).last?.id },
        Kind(name: "error") { try $0.operationErrors(in: nil).last?.operationID },
        Kind(name: "config value") { try $0.configValue(Fixture.key("k")).flatMap { Int64($0) } },
    ]

    struct Question {
        let subject: String
        let ask: @Sendable (any StoreSnapshot) throws -> String
    }

    /// Questions whose answers differ after each put.
    static let questions = [
        Question(subject: "the item") { try $0.item(id: "n", in: "Thing").exactDescription },
        Question(subject: "the items") { try $0.items(matching: TableQuery("Thing")).exactDescription },
        Question(subject: "the rows") {
            try $0.rows(matching: TableQuery("Thing"), columns: ["count"]).rows.exactDescription
        },
        Question(subject: "the operations") {
            try $0.operations(after: 0, in: nil, limit: .max).exactDescription
        },
        Question(subject: "the operations of the item") {
            try $0.operations(forItem: "n", in: "Thing").exactDescription
        },
        Question(subject: "the operation count") { try $0.operationCount(in: nil).exactDescription },
        Question(subject: "the errors") { try $0.operationErrors(in: nil).exactDescription },
        Question(subject: "the config value") { try $0.configValue(Fixture.key("k")).exactDescription },
        Question(subject: "the config values") {
            try $0.configValues(in: "Thing", kind: .deltaToken).map(\.value).exactDescription
        },
    ]
}

extension RuleRun {
    /// Starts a write of the second store during a write of the first, which is the same store or another opening of it.
    /// Expects the second write to wait, and to see the changes of the first.
    func expectNewestState(
        inWriteOf second: any SyncContextDataSource, waitingFor first: any SyncContextDataSource
    ) throws {
        try put([Item(id: "n", fields: ["count": 1])])
        let (isCalling, hasBegun) = (Signal(), Signal())
        let seen = Shared<Int64?>(nil)
        let group = ThreadGroup()
        let hasOverlapped = try first.write { transaction in
            group.start {
                isCalling.send()
                try second.write { transaction in
                    hasBegun.send()
                    let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue
                    seen.change { $0 = count }
                    try transaction.upsert(
                        [Item(id: "n", fields: ["count": .int((count ?? 0) + 1)])], in: "Thing")
                }
            }
            _ = wait(for: isCalling)
            let hasOverlapped = hasBegun.wait(seconds: 0.2)
            try transaction.upsert([Item(id: "n", fields: ["count": 2])], in: "Thing")
            return hasOverlapped
        }
        try join(group)
        try expect(!hasOverlapped, "The second write waited for the first.")
        try expect(seen.value, is: 2, "the count that the write read after it had waited")
        try expect(try item("n")?["count"], is: 3, "the count after both writes")
    }

    /// Writes numbers with data of every kind in one opening, while threads read in the same or in another opening. Expects
    /// every read to find the same number in all data.
    func expectWholeTransactions(
        of writer: any SyncContextDataSource, readIn reader: any SyncContextDataSource
    ) throws {
        try writer.write { try NumberedData.put(1, $0) }
        let (reading, written) = (Shared(3), Shared<Int64>(1))
        let torn = Shared<[String]>([])
        let group = ThreadGroup()
        for _ in 0..<3 {
            group.start {
                defer { reading.change { $0 -= 1 } }
                var reads = 0
                while reads < 60 || written.value < 60 {
                    reads += 1
                    let isReversed = reads.isMultiple(of: 2)
                    let numbers = try reader.read {
                        try NumberedData.numbers(in: $0, isReversed: isReversed)
                    }
                    if Set(numbers.values).count == 1 { continue }
                    torn.change { $0.append(numbers.exactDescription) }
                }
            }
        }
        while reading.value > 0 {
            let number = written.value + 1
            try writer.write { transaction in
                try NumberedData.put(number, transaction)
                try NumberedData.remove(number - 1, transaction)
            }
            written.change { $0 = number }
        }
        try join(group)
        try expect(torn.value.first, is: nil, "the numbers of different transactions in one read")
    }

    /// Increments a count in writes of eight threads, divided between the openings. Expects every increment.
    func expectNoLostUpdates(in openings: [any SyncContextDataSource]) throws {
        try put([Item(id: "n", fields: ["count": 0])])
        try runConcurrently(
            (0..<8).map { thread in
                let store = openings[thread % openings.count]
                return {
                    for _ in 0..<25 {
                        try store.write { transaction in
                            let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue ?? -1
                            // Other writes begin before this one ends.
                            Thread.sleep(forTimeInterval: 0.0002)
                            try transaction.upsert(
                                [Item(id: "n", fields: ["count": .int(count + 1)])], in: "Thing")
                        }
                    }
                }
            })
        try expect(try item("n")?["count"], is: 200, "the count after 8 times 25 increments")
    }
}
