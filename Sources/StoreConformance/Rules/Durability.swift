// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    private static let durable = StoreRequirement.declared(.durable)

    /// Contents after reopening, and in a copy of the files of an open store.
    @RuleList static var durability: [StoreRule] {
        StoreRule(
            "durable.items", "Items are the same after reopening.", level: .durable, requirement: durable
        ) { run in
            try run.put(Fixture.items)
            try run.reopen()
            try run.expect(try run.find(TableQuery("Thing")).items, is: Fixture.items, "all items")
            for item in Fixture.items {
                try run.expect(try run.item(item.id), is: item, "the item '\(item.id)'")
            }
        }
        StoreRule(
            "durable.everything", "The complete contents are the same after reopening.", level: .durable,
            requirement: durable
        ) { run in
            try run.seedEverything()
            try run.store.write { try Self.changeEverything($0) }
            for round in 0..<3 {
                try run.expectUnchanged("the store after reopening, round \(round)") {
                    try run.reopen()
                }
            }
        }
        StoreRule(
            "durable.queries", "Queries have the same results after reopening.", level: .durable,
            requirement: durable
        ) { run in
            try run.put(Fixture.items)
            let query = TableQuery("Thing").where(.column("mark") == "x").order(byDescending: "count")
                .includingTotalCount()
            let before = try run.find(query)
            try run.reopen()
            try run.expect(before.items.count, is: 3, "the number of items before")
            try run.expect(try run.find(query), is: before, "the result of the query")
        }
        StoreRule(
            "durable.deletes", "Deleted data stays deleted after reopening.", level: .durable,
            requirement: durable
        ) {
            run in
            try run.seedEverything()
            try run.delete(["a", "b"])
            try run.store.write { transaction in
                try transaction.removeOperation(id: 1)
                try transaction.removeOperationError(operationID: 1)
                try transaction.setConfigValue(nil, for: Fixture.key("k"))
            }
            try run.reopen()
            try run.expect(try run.ids().joined(), is: "cdefghijklmnop", "the ids")
            try run.expect(try run.queue(), is: [2], "the queue")
            try run.expect(try run.store.read { try $0.operationErrors(in: nil) }, is: [], "the log")
            try run.expect(try run.config(Fixture.key("k")), is: nil, "the value")
        }
        StoreRule(
            "durable.rollback", "Rolled back changes do not return after reopening.", level: .durable,
            requirement: durable
        ) {
            run in
            try run.seedEverything()
            try run.expectUnchanged("the store") {
                try? run.store.write { transaction in
                    try Self.changeEverything(transaction)
                    throw AppError()
                }
                try run.reopen()
            }
        }
        StoreRule(
            "durable.last-id", "Operation ids continue after reopening, also when the queue is empty.",
            level: .durable, requirement: durable
        ) { run in
            try run.put((1...5).map { Fixture.operation($0) })
            try run.store.write { for id: Int64 in 1...5 { try $0.removeOperation(id: id) } }
            for round in 0..<3 {
                try run.reopen()
                try run.expect(try run.lastOperationID(), is: 5, "the last operation id, opening \(round)")
            }
            try run.put([Fixture.operation(6)])
            try run.store.write { try $0.removeOperation(id: 6) }
            try run.reopen()
            try run.expect(try run.lastOperationID(), is: 6, "the last operation id after one more")
        }
        StoreRule(
            "durable.last-write", "Close does not lose the last write.", level: .durable,
            requirement: durable
        ) { run in
            for round in 0..<20 {
                try run.put([Item(id: "a", fields: ["count": .int(Int64(round))])])
                try run.reopen()
                try run.expect(
                    try run.item("a")?["count"], is: .int(Int64(round)), "the item in round \(round)")
            }
        }
        StoreRule(
            "durable.new-table", "A table declared later is added; the others keep their items.",
            level: .durable, requirement: durable
        ) { run in
            try run.put(Fixture.items)
            let added = SyncTableDefinition("Added", columns: [SyncColumn("label", .text)])
            try run.reopen(tables: Fixture.tables + [added])
            try run.put([Item(id: "n", fields: ["label": "new"])], in: "Added")
            try run.expect(try run.find(TableQuery("Thing")).items, is: Fixture.items, "the items of Thing")
            try run.expect(try run.ids("Added"), is: ["n"], "the ids of Added")
        }
        StoreRule(
            "durable.new-column", "A column declared later is missing in older items and accepts values.",
            level: .durable, requirement: durable
        ) { run in
            try run.with("columns", tables: [Self.table("label")]) { store in
                try store.write { try $0.upsert([Item(id: "old", fields: ["label": "x"])], in: "T") }
            }
            try run.with("columns", tables: [Self.table("label", "more")]) { store in
                try store.write { try $0.upsert([Item(id: "new", fields: ["more": nil])], in: "T") }
                let found = try store.read {
                    try $0.items(matching: TableQuery("T").where(.isNull(.column("more"))))
                }
                try run.expect(
                    found.items,
                    is: [Item(id: "new", fields: ["more": nil]), Item(id: "old", fields: ["label": "x"])],
                    "the items")
            }
        }
        StoreRule(
            "durable.gone-column",
            "A column that is no longer declared keeps its values until it is declared again.",
            level: .durable,
            requirement: durable
        ) { run in
            let item = Item(id: "a", fields: ["label": "x", "more": "y"])
            try run.with("columns", tables: [Self.table("label", "more")]) { store in
                try store.write { try $0.upsert([item], in: "T") }
            }
            try run.with("columns", tables: [Self.table("label")]) { store in
                let found = try store.read {
                    try $0.items(matching: TableQuery("T").where(.column("label") == "x"))
                }
                try run.expect(found.items.map(\.id), is: ["a"], "the ids with fewer columns")
            }
            try run.with("columns", tables: [Self.table("label", "more")]) { store in
                try run.expect(try store.read { try $0.item(id: "a", in: "T") }, is: item, "the item")
            }
        }
        StoreRule(
            "durable.gone-table",
            "A table that is no longer declared keeps all its data until it is declared again.",
            level: .durable, requirement: durable
        ) { run in
            try run.put(Fixture.items)
            try run.put([Fixture.operation(1)])
            try run.put([Fixture.error(1)])
            for kind in ConfigKey.Kind.allCases { try run.set(kind.rawValue, for: Fixture.key("k", kind)) }
            try run.reopen(tables: [Fixture.thing2])
            try run.expectKeptData("while undeclared")
            try run.expect(throws: .unknownTable, "its items while undeclared") { try run.item("a") }
            try run.reopen()
            try run.expectKeptData("again")
            try run.expect(try run.find(TableQuery("Thing")).items, is: Fixture.items, "its items again")
        }
        StoreRule(
            "durable.column-type",
            "A column declared with another type than stored is refused with schemaMismatch.",
            level: .durable, requirement: durable
        ) { run in
            try run.with("columns", tables: [Self.table("label")]) { store in
                try store.write { try $0.upsert([Item(id: "a", fields: ["label": "x"])], in: "T") }
            }
            try run.expect(throws: .schemaMismatch, "opening with an integer column") {
                try run.open(
                    "columns", tables: [SyncTableDefinition("T", columns: [SyncColumn("label", .integer)])])
            }
            try run.with("columns", tables: [Self.table("label")]) { store in
                try run.expect(
                    try store.read { try $0.item(id: "a", in: "T")?["label"] }, is: "x",
                    "the item as it was declared")
            }
        }
        StoreRule(
            "durable.image", "A copy of the files made after a write has returned contains the write.",
            level: .durable, requirement: .files
        ) { run in
            for round in 0..<12 {
                try run.store.write { transaction in
                    let mark = ItemValue.text("m\(round % 3)")
                    try transaction.upsert(
                        [Item(id: "a", fields: ["count": .int(Int64(round)), "mark": mark])], in: "Thing")
                    try transaction.put(Fixture.operation(Int64(round + 1)))
                    if round > 2 { try transaction.removeOperation(id: Int64(round - 2)) }
                }
                try run.expect(
                    try run.dumpOfImage("\(round)"), is: try StoreDump(run.store).lines,
                    "the copy after write \(round)")
            }
        }
        StoreRule(
            "durable.image.inside",
            "A copy of the files made at any point inside a write contains nothing of it.", level: .durable,
            requirement: .files
        ) { run in
            try run.seedEverything()
            let before = try StoreDump(run.store).lines
            var images: [String] = []
            try run.store.write { transaction in
                try Self.changeEverything(transaction) {
                    images.append("inside\(images.count)")
                    try run.makeImage(images[images.count - 1])
                }
            }
            try run.expect(images.count >= 10, "Every change has a copy.")
            for image in images {
                try run.expect(try run.dump(ofImage: image), is: before, "the copy '\(image)'")
            }
            try run.expect(
                try run.dumpOfImage("after"), is: try StoreDump(run.store).lines, "the copy after the write")
        }
        StoreRule(
            "durable.image.large",
            "A copy of the files made inside a write of many megabytes contains nothing of it.", level: .full,
            requirement: .files
        ) { run in
            try run.put([Item(id: "before")])
            let before = try StoreDump(run.store).lines
            try run.store.write { transaction in
                for index in 0..<40 {
                    let blob = ItemValue.data(Data(repeating: UInt8(index), count: 200_000))
                    try transaction.upsert([Item(id: "i\(index)", fields: ["blob": blob])], in: "Thing")
                }
                try run.makeImage("inside")
            }
            try run.expect(try run.dump(ofImage: "inside"), is: before, "the copy inside the write")
            try run.expect(
                try run.dumpOfImage("after"), is: try StoreDump(run.store).lines, "the copy after the write")
        }
    }

    private static func table(_ columns: String...) -> SyncTableDefinition {
        SyncTableDefinition("T", columns: columns.map { SyncColumn($0, .text) })
    }
}

extension RuleRun {
    /// Expects the operation, the error and the config values that `durable.gone-table` has stored for its table.
    fileprivate func expectKeptData(_ when: String) throws {
        try expect(try queue(in: "Thing"), is: [1], "its operations \(when)")
        let errors = try store.read { try $0.operationErrors(in: "Thing") }
        try expect(errors, is: [Fixture.error(1)], "its errors \(when)")
        for kind in ConfigKey.Kind.allCases {
            let value = try config(Fixture.key("k", kind))
            try expect(value, is: kind.rawValue, "its config value of the kind \(kind.rawValue) \(when)")
        }
    }

    /// Copies the current files of the store: the state that a process killed at this moment would leave.
    func makeImage(_ name: String) throws {
        _ = try store
        try FileManager.default.copyItem(atPath: "\(directory)/store", toPath: "\(directory)/\(name)")
    }

    /// Opens a store on the copy and returns its contents.
    func dump(ofImage name: String) throws -> [String] { try with(name) { try StoreDump($0).lines } }

    /// Copies the current files, opens a store on them and returns its contents.
    func dumpOfImage(_ name: String) throws -> [String] {
        try makeImage("image\(name)")
        return try dump(ofImage: "image\(name)")
    }
}
