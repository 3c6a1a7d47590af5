// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Atomicity of transactions.
    @RuleList static var transactions: [StoreRule] {
        StoreRule("transaction.result", "Read and write return the result of their body.") { run in
            try run.expect(try run.store.read { _ in 7 }, is: 7, "a read")
            try run.expect(try run.store.write { _ in "seven" }, is: "seven", "a write")
        }
        StoreRule("transaction.error", "Read and write rethrow the body's error unchanged.") { run in
            for number in 1...3 {
                try run.expectError(
                    "AppError(\(number))", "a read", { try run.store.read { _ in throw AppError(number) } }
                ) {
                    $0 as? AppError == AppError(number)
                }
                try run.expectError(
                    "AppError(\(number))", "a write", { try run.store.write { _ in throw AppError(number) } }
                ) {
                    $0 as? AppError == AppError(number)
                }
            }
        }
        StoreRule("transaction.rollback", "When the body throws, all its changes are rolled back.") { run in
            try run.seedEverything()
            try run.expectUnchanged("the store after a body that threw at its end") {
                try? run.store.write { transaction in
                    try Self.changeEverything(transaction)
                    throw AppError()
                }
            }
        }
        StoreRule(
            "transaction.rollback.items",
            "A failed transaction rolls back its upserts."
        ) { run in
            try run.put([Item(id: "a", fields: ["count": 1])])
            try? run.store.write { transaction in
                try transaction.upsert([Item(id: "a", fields: ["count": 2]), Item(id: "b")], in: "Thing")
                throw AppError()
            }
            let found = try run.find(TableQuery("Thing").includingTotalCount())
            try run.expect(
                found, is: QueryResult(items: [Item(id: "a", fields: ["count": 1])], totalCount: 1),
                "the items")
        }
        StoreRule(
            "transaction.rollback.deletes", "A failed transaction rolls back its deletes."
        ) { run in
            try run.put(Fixture.items)
            try? run.store.write { transaction in
                try transaction.deleteItems(ids: ["a"], in: "Thing")
                try transaction.deleteItems(matching: TableQuery("Thing").where(.column("count") > 1))
                throw AppError()
            }
            try run.expect(try run.find(TableQuery("Thing")).items, is: Fixture.items, "the items")
        }
        StoreRule(
            "transaction.rollback.queue",
            "A failed transaction rolls back its changes of queue, error log and config."
        ) { run in
            try run.put([Fixture.operation(1)])
            try run.set("old", for: Fixture.key("k"))
            try? run.store.write { transaction in
                try transaction.put(Fixture.operation(2))
                try transaction.removeOperation(id: 1)
                try transaction.put(Fixture.error(1))
                try transaction.setConfigValue("new", for: Fixture.key("k"))
                throw AppError()
            }
            try run.expect(try run.queue(), is: [1], "the queue")
            try run.expect(try run.store.read { try $0.operationCount(in: nil) }, is: 1, "the count")
            try run.expect(try run.store.read { try $0.operationErrors(in: nil) }, is: [], "the log")
            try run.expect(try run.config(Fixture.key("k")), is: "old", "the config value")
        }
        StoreRule("transaction.rollback.then-write", "After a failed transaction, the next one succeeds.") {
            run in
            for round in 1...10 {
                try? run.store.write { transaction in
                    try transaction.upsert([Item(id: "bad")], in: "Thing")
                    throw AppError()
                }
                try run.put([Item(id: "good", fields: ["count": .int(Int64(round))])])
                try run.expect(try run.ids(), is: ["good"], "the ids in round \(round)")
                try run.expect(try run.item("good")?["count"], is: .int(Int64(round)), "the count")
            }
        }
        StoreRule("transaction.read-error", "A read whose body throws leaves the store usable.") { run in
            try run.put([Item(id: "a")])
            // More failed reads than a store has reader slots or connections.
            for _ in 0..<500 {
                try? run.store.read { _ in throw AppError() }
                try? run.store.read { snapshot in
                    _ = try snapshot.forEachRow(matching: TableQuery("Thing"), columns: []) { _ in
                        throw AppError()
                    }
                }
            }
            try run.expect(try run.ids(), is: ["a"], "the ids")
        }
        StoreRule(
            "transaction.write-error", "Any number of writes whose bodies throw leave the store usable."
        ) {
            run in
            for _ in 0..<500 {
                try? run.store.write { transaction in
                    try transaction.upsert([Item(id: "bad")], in: "Thing")
                    throw AppError()
                }
            }
            try run.put([Item(id: "good")])
            try run.expect(try run.ids(), is: ["good"], "the ids")
        }
        StoreRule(
            "transaction.together",
            "Item, operation, error and config value of one transaction are committed together."
        ) { run in
            try run.store.write { try Self.changeEverything($0) }
            try run.store.read { snapshot in
                try run.expect(try snapshot.item(id: "new", in: "Thing")?["count"], is: 1, "the item")
                try run.expect(
                    try snapshot.item(id: "new", in: "Thing2")?["label"], is: "x", "the other item")
                try run.expect(try snapshot.operation(id: 100)?.itemID, is: "new", "the operation")
                try run.expect(
                    try snapshot.operationError(operationID: 100)?.operationID, is: 100, "the error")
                try run.expect(try snapshot.configValue(Fixture.key("k")), is: "new", "the value")
            }
        }
        StoreRule("transaction.once", "A body runs exactly once.") { run in
            var reads = 0
            var writes = 0
            try run.store.read { _ in reads += 1 }
            try run.store.write { transaction in
                writes += 1
                try transaction.upsert([Item(id: "a")], in: "Thing")
            }
            try? run.store.write { _ in
                writes += 1
                throw AppError()
            }
            try run.expect(reads, is: 1, "runs of a read's body")
            try run.expect(writes, is: 2, "runs of two writes' bodies")
        }
        StoreRule("transaction.nothing", "A write without changes succeeds.") { run in
            try run.put([Item(id: "a")])
            try run.expectUnchanged("the store") { for _ in 0..<10 { try run.store.write { _ in } } }
        }
        StoreRule("transaction.long", "A transaction of two thousand changes is atomic.") { run in
            try run.store.write { transaction in
                for index in 0..<1000 {
                    try transaction.upsert([Item(id: Fixture.number(index))], in: "Thing")
                    try transaction.put(Fixture.operation(Int64(index + 1), item: Fixture.number(index)))
                }
            }
            try run.expect(try run.ids().count, is: 1000, "the items")
            try run.expect(try run.store.read { try $0.operationCount(in: nil) }, is: 1000, "the operations")
            try? run.store.write { transaction in
                for index in 0..<1000 {
                    try transaction.deleteItems(ids: [Fixture.number(index)], in: "Thing")
                    try transaction.removeOperation(id: Int64(index + 1))
                }
                throw AppError()
            }
            try run.expect(try run.ids().count, is: 1000, "the items after a failed transaction")
            try run.expect(try run.queue().count, is: 1000, "the operations after a failed transaction")
        }
        StoreRule("transaction.snapshot", "All reads of one snapshot see the same state.") { run in
            try run.put(Fixture.items)
            try run.store.read { snapshot in
                let first = try snapshot.items(matching: TableQuery("Thing"))
                for _ in 0..<3 {
                    try run.expect(try snapshot.items(matching: TableQuery("Thing")), is: first, "all items")
                    try run.expect(try snapshot.item(id: "a", in: "Thing"), is: Fixture.items[0], "one item")
                }
            }
        }
    }

    /// Makes one change of every kind.
    ///
    /// - Parameter pause: runs before each change and after the last one.
    static func changeEverything(
        _ transaction: any StoreTransaction, pause: () throws -> Void = {}
    ) throws {
        let changes: [(any StoreTransaction) throws -> Void] = [
            { try $0.upsert([Item(id: "new", fields: ["count": 1])], in: "Thing") },
            { try $0.upsert([Item(id: "new", fields: ["label": "x"])], in: "Thing2") },
            { _ = try $0.insert(Item(id: "inserted", fields: ["mark": "x"]), in: "Thing") },
            { try $0.deleteItems(ids: ["a"], in: "Thing") },
            { _ = try $0.deleteItems(matching: TableQuery("Thing").where(.column("count") > 1)) },
            { try $0.put(Fixture.operation(100, item: "new")) },
            { try $0.removeOperation(id: 1) },
            { try $0.put(Fixture.error(100)) },
            { try $0.removeOperationError(operationID: 1) },
            { try $0.setConfigValue("new", for: Fixture.key("k")) },
            { try $0.setConfigValue(nil, for: Fixture.key("gone")) },
        ]
        for change in changes {
            try pause()
            try change(transaction)
        }
        try pause()
    }
}

extension RuleRun {
    /// Stores data of every kind for `changeEverything` to change.
    func seedEverything() throws {
        try put(Fixture.items)
        try put([Item(id: "a", fields: ["label": "y"])], in: "Thing2")
        try put([Fixture.operation(1), Fixture.operation(2, item: "b")])
        try put([Fixture.error(1)])
        try set("old", for: Fixture.key("k"))
        try set("here", for: Fixture.key("gone"))
    }
}
