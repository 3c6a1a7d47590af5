// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// The error log.
    @RuleList static var errorLog: [StoreRule] {
        StoreRule("log.exact", "An error is stored with all its properties.") { run in
            let full = TableOperationError(
                operationID: 3, table: "Thing", itemID: "e\u{301}", kind: .insert, item: Fixture.items[0],
                serverItem: Item(id: "a", system: SystemProperties(version: "2", deleted: true)), status: 412,
                code: .preconditionFailed, message: "a\0b \u{1F600}\n", revision: 9, heldBy: 1)
            let bare = TableOperationError(
                operationID: 4, table: "Thing", itemID: "b", kind: .delete, item: nil, serverItem: nil,
                status: nil, code: SyncError.Code(rawValue: -9999), message: "", revision: 0)
            try run.put([full, bare])
            let found = try run.store.read { try $0.operationError(operationID: 3) }
            try run.expect(found, is: full, "the error by its operation")
            try run.expect(try run.errors(), is: [full, bare], "the log")
        }
        StoreRule("log.deep", "The rows of an error may be as deep as the JSON of a server.") { run in
            let deep = (0..<99).reduce(ItemValue.int(1)) { value, level in
                level.isMultiple(of: 2) ? .array([value]) : .object(["$a": value])
            }
            let row = Item(id: "a", system: SystemProperties(version: "2", undeclared: ["x": deep]))
            let error = TableOperationError(
                operationID: 1, table: "Thing", itemID: "a", kind: .update, item: row, serverItem: row,
                status: 412, code: .preconditionFailed, message: "no", revision: 0)
            try run.put([error])
            try run.expect(try run.errors(), is: [error], "the log")
            var operation = Fixture.operation(1)
            (operation.base, operation.serverItem, operation.deletedItem) = (row, row, row)
            operation.sent = .init(kind: .update, fields: ["x": deep], version: "1")
            try run.put([operation])
            let found = try run.store.read { try $0.operation(id: 1) }
            try run.expect(found, is: operation, "the operation")
            try run.expectExact(row, "the item")
        }
        StoreRule("log.missing", "An operation without an error has none, although others do.") { run in
            try run.put([Fixture.operation(1)])
            try run.put([Fixture.error(2)])
            let found = try run.store.read { try $0.operationError(operationID: 1) }
            try run.expect(found, is: nil, "the error of operation 1")
        }
        StoreRule("log.replaces", "A later error of the same operation replaces the earlier one.") {
            run in
            try run.put([Fixture.error(1, message: "first"), Fixture.error(2)])
            try run.put([Fixture.error(1, message: "second")])
            try run.expect(
                try run.errors(), is: [Fixture.error(1, message: "second"), Fixture.error(2)], "the log")
        }
        StoreRule("log.moves", "An error put again for another table is found only there.") {
            run in
            try run.put([Fixture.error(1, in: "Thing")])
            try run.put([Fixture.error(1, in: "Thing2")])
            try run.expect(try run.errors(in: "Thing"), is: [], "errors of Thing")
            try run.expect(try run.errors(in: "Thing2").map(\.operationID), is: [1], "errors of Thing2")
        }
        StoreRule("log.order", "Errors are in ascending order of operation id.") { run in
            try run.put([300, 2, 70_000, 1, 255, 256].map { Fixture.error($0) })
            try run.expect(try run.errors().map(\.operationID), is: [1, 2, 255, 256, 300, 70_000], "the log")
        }
        StoreRule("log.table", "The errors of a table are only those of the exact table name.") { run in
            let names = ["Thing", "Thing2", "thing", "Gone", "e\u{301}", "\u{e9}", ""]
            try run.put(names.enumerated().map { Fixture.error(Int64($0 + 1), in: $1) })
            for (index, name) in names.enumerated() {
                let found = try run.errors(in: name).map(\.operationID)
                try run.expect(found, is: [Int64(index + 1)], "errors of \(name.exactDescription)")
            }
        }
        StoreRule("log.remove", "A removed error is not found; the others are kept.") { run in
            try run.put((1...3).map { Fixture.error($0) })
            try run.store.write { try $0.removeOperationError(operationID: 2) }
            try run.expect(try run.errors().map(\.operationID), is: [1, 3], "the log")
            let found = try run.store.read { try $0.operationError(operationID: 2) }
            try run.expect(found, is: nil, "by its operation")
        }
        StoreRule("log.remove.missing", "Removing a missing error changes nothing.") { run in
            try run.put([Fixture.error(1)])
            try run.put([Fixture.operation(2)])
            try run.expectUnchanged("the store") {
                try run.store.write {
                    for id: Int64 in [2, 77] { try $0.removeOperationError(operationID: id) }
                }
            }
        }
        StoreRule(
            "log.without-operation",
            "An error does not require an operation and does not change the last operation id."
        ) { run in
            try run.put([Fixture.error(40)])
            try run.expect(try run.errors().map(\.operationID), is: [40], "the log")
            try run.expect(try run.lastOperationID(), is: 0, "the last operation id")
            try run.expect(try run.queue(), is: [], "the queue")
        }
        StoreRule("log.inside", "A transaction sees its own changes of the error log.") { run in
            try run.put([Fixture.error(1)])
            try run.store.write { transaction in
                try transaction.put(Fixture.error(2))
                try transaction.removeOperationError(operationID: 1)
                let found = try transaction.operationErrors(in: nil).map(\.operationID)
                try run.expect(found, is: [2], "the log")
            }
        }
    }
}

extension RuleRun {
    fileprivate func errors(in table: String? = nil) throws -> [TableOperationError] {
        try store.read { try $0.operationErrors(in: table) }
    }
}
