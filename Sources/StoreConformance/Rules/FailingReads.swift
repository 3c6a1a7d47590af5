// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Reads that fail before the body and inside it.
    @RuleList static var failingReads: [StoreRule] {
        StoreRule(
            "fault.read",
            "A read that fails is not swallowed: its transaction throws and changes nothing, and the next one works.",
            level: .full
        ) { run in
            try run.seedEverything()
            let store = FaultingStore(try run.store)
            store.faults.failingRead = 1
            try run.expect(throws: .inputOutput, "the read") { try store.read { _ in } }
            try run.expect(try store.read { try $0.operationCount(in: nil) }, is: 2, "the next read")
            for number in 1...Self.lookups.count { try run.expectNoEffect(ofFailingLookup: number) }
            for (name, lookup) in Self.refusedLookups {
                try run.expectNoEffect(ofRefused: name, lookup)
                try run.expectWholeWrite(handling: name, lookup)
            }
        }
    }

    fileprivate typealias Lookup = (any StoreSnapshot) throws -> Void

    /// One lookup of every kind.
    fileprivate static var lookups: [Lookup] {
        [
            { _ = try $0.item(id: "b", in: "Thing") },
            { _ = try $0.items(matching: TableQuery("Thing")) },
            { _ = try $0.forEachRow(matching: TableQuery("Thing"), columns: ["label"]) { _ in } },
            { _ = try $0.operation(id: 2) },
            { _ = try $0.operations(after: 0, in: nil, limit: .max) },
            { _ = try $0.operations(forItem: "b", in: "Thing") },
            { _ = try $0.operationCount(in: nil) },
            { _ = try $0.operationError(operationID: 1) },
            { _ = try $0.operationErrors(in: nil) },
            { _ = try $0.configValue(Fixture.key("k")) },
            { _ = try $0.configValues(in: "Thing", kind: .deltaToken) },
        ]
    }

    /// Lookups that the store itself refuses, or whose body throws.
    fileprivate static var refusedLookups: [(name: String, lookup: Lookup)] {
        [
            ("an item of an undeclared table", { _ = try $0.item(id: "a", in: "Nothing") }),
            ("a query on an undeclared table", { _ = try $0.items(matching: TableQuery("Nothing")) }),
            (
                "the rows of an undeclared table",
                { _ = try $0.forEachRow(matching: TableQuery("Nothing"), columns: []) { _ in } }
            ),
            (
                "rows whose body throws",
                { snapshot in
                    _ = try snapshot.forEachRow(matching: TableQuery("Thing"), columns: ["label"]) { _ in
                        throw AppError()
                    }
                }
            ),
        ]
    }
}

extension RuleRun {
    /// Expects a read and a write to throw the error of a lookup in their bodies.
    fileprivate func expectNoEffect(ofFailingLookup number: Int) throws {
        for writes in [false, true] {
            let store = FaultingStore(try store)
            store.faults.failingLookup = number
            let subject = "a \(writes ? "write" : "read") whose lookup \(number) fails"
            try expectUnchanged("the store after \(subject)") {
                try expect(throws: .inputOutput, subject) {
                    guard writes else { return try store.read(Self.lookUpEverything) }
                    try store.write { transaction in
                        try StoreRule.changeEverything(transaction)
                        try Self.lookUpEverything(transaction)
                    }
                }
            }
        }
    }

    private static func lookUpEverything(_ snapshot: any StoreSnapshot) throws {
        for lookup in StoreRule.lookups { try lookup(snapshot) }
    }

    /// Expects a write to throw the error of the lookup, and to change nothing.
    fileprivate func expectNoEffect(ofRefused name: String, _ lookup: StoreRule.Lookup) throws {
        try expectUnchanged("the store after a write that failed because it read \(name)") {
            try expectError(
                "SyncError.unknownTable or the error of the body", "a write that reads \(name)",
                {
                    try store.write { transaction in
                        try StoreRule.changeEverything(transaction)
                        try lookup(transaction)
                    }
                },
                { $0 is AppError || ($0 as? SyncError)?.code == .unknownTable })
        }
    }

    /// Expects a write that handles the error of the lookup to have its whole effect.
    fileprivate func expectWholeWrite(handling name: String, _ lookup: StoreRule.Lookup) throws {
        let ids = ["before \(name)", "after \(name)"]
        try store.write { transaction in
            try transaction.upsert([Item(id: ids[0])], in: "Thing2")
            try? lookup(transaction)
            try transaction.upsert([Item(id: ids[1])], in: "Thing2")
        }
        for id in ids {
            try expect(
                try item(id, in: "Thing2"), is: Item(id: id), "the item of a write that handled the error")
        }
    }
}
