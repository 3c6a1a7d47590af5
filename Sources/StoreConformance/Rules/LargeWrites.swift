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
    }

    private static let largeCount = 40

    /// Stores items of 400 kB each, 16 MB together.
    private static func upsertManyMegabytes(_ transaction: any StoreTransaction) throws {
        let text = String(repeating: "0123456789", count: 40_000)
        for index in 0..<largeCount {
            try transaction.upsert([Item(id: "large\(index)", fields: ["label": .text(text)])], in: "Thing2")
        }
    }
}
