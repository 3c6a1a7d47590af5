// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Clauses about the stores of ``StoreHarness/specialStores``.
    @RuleList static var specialCases: [StoreRule] {
        StoreRule(
            "error.full",
            "A write that exceeds the available space throws full and changes nothing, and later writes succeed.",
            level: .full, requirement: .smallStore
        ) { run in
            guard let openSmall = run.harness.specialStores.openSmall else { return }
            let store = try run.open("small", with: openSmall)
            try store.write { transaction in
                try transaction.upsert([Item(id: "kept", fields: ["label": "old"])], in: "Thing")
                try transaction.put(Fixture.operation(1))
            }
            let before = try StoreDump(store).lines
            for round in 1...3 {
                try run.expect(throws: .full, "the write \(round), which does not fit") {
                    try store.write { transaction in
                        try transaction.upsert([Item(id: "kept", fields: ["label": "new"])], in: "Thing")
                        try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
                        try Self.fillSpace(transaction)
                    }
                }
                try run.expect(
                    try StoreDump(store).lines, is: before, "the store after the write \(round)")
            }
            let item = Item(id: "after")
            try store.write { try $0.upsert([item], in: "Thing") }
            try run.expect(
                try store.read { try $0.item(id: "after", in: "Thing") }, is: item,
                "the item of a write that fits")
        }
        StoreRule(
            "app.refused-item",
            "An upsert of one item that throws schemaMismatch changes nothing, and its transaction can be committed.",
            level: .full, requirement: .constrainedStore
        ) { run in
            guard let openConstrained = run.harness.specialStores.openConstrained else { return }
            let store = try run.open("constrained", with: openConstrained)
            let old = Item(id: "old", fields: ["label": "allowed", "count": 1])
            try store.write { try $0.upsert([old], in: "Thing") }
            for id in ["new", "old"] {
                let refused = Item(id: id, fields: ["label": "refused", "count": 2])
                try store.write { transaction in
                    try transaction.upsert([Item(id: "before-\(id)")], in: "Thing")
                    try run.expect(throws: .schemaMismatch, "an upsert of the item '\(id)'") {
                        try transaction.upsert([refused], in: "Thing")
                    }
                    try run.expect(
                        try transaction.item(id: id, in: "Thing"), is: id == "old" ? old : nil,
                        "the item '\(id)' in the transaction that refused it")
                    try transaction.upsert([Item(id: "after-\(id)")], in: "Thing")
                    try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
                }
            }
            try store.read { snapshot in
                try run.expect(
                    try snapshot.items(matching: TableQuery("Thing")).items.map(\.id),
                    is: ["after-new", "after-old", "before-new", "before-old", "old"],
                    "the ids after the commits")
                try run.expect(try snapshot.item(id: "old", in: "Thing"), is: old, "the item 'old'")
                try run.expect(try snapshot.operationCount(in: nil), is: 2, "the operations")
            }
        }
        StoreRule(
            "app.external-commit",
            "A commit that the app makes in its own database calls the handler of onExternalCommit.",
            level: .full, requirement: .externalCommits
        ) { run in
            guard let opening = run.harness.specialStores.openWithApp else { return }
            let (store, addItem) = try run.openWithApp("app", with: opening)
            let isCalled = Signal()
            store.onExternalCommit { isCalled.send() }
            for number in 1...3 {
                let id = "external\(number)"
                // A store may call the handler more often than there are commits of the app.
                while isCalled.wait(seconds: 0) {}
                try addItem(id)
                try run.expect(
                    run.wait(for: isCalled), "The handler is called after the external commit \(number).")
                let item = try store.read { try $0.item(id: id, in: "Thing") }
                try run.expect(item?.id, is: id, "the id of the app's item")
            }
        }
        StoreRule(
            "open.newer-format",
            "A store of a newer format is refused with newerFormat, and its file is not changed.",
            level: .durable, requirement: .newerFormat
        ) { run in
            guard let makeNewer = run.harness.specialStores.makeNewer else { return }
            try run.with("newer") { try $0.write { try $0.upsert([Item(id: "a")], in: "Thing") } }
            let path = try run.path("newer")
            try makeNewer(path)
            let contents = FileManager.default.contents(atPath: path)
            let added = SyncTableDefinition("Added", columns: [SyncColumn("label", .text)])
            for tables in [Fixture.tables, [], Fixture.tables + [added]] {
                try run.expect(throws: .newerFormat, "opening with \(tables.count) tables") {
                    try run.open("newer", tables: tables)
                }
                try run.expect(
                    FileManager.default.contents(atPath: path), is: contents,
                    "the file of a newer format after opening with \(tables.count) tables")
            }
        }
    }

    /// Stores 64 MB, which no small store has space for.
    private static func fillSpace(_ transaction: any StoreTransaction) throws {
        let text = String(repeating: "0123456789", count: 40_000)
        for index in 0..<160 {
            try transaction.upsert([Item(id: "large\(index)", fields: ["label": .text(text)])], in: "Thing2")
        }
    }
}
