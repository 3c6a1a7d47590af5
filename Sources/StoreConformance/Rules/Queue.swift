// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// The operation queue.
    @RuleList static var queue: [StoreRule] {
        StoreRule("queue.empty", "A new store has no operations, and its last operation id is 0.") { run in
            try run.expect(try run.queue(), is: [], "the queue")
            try run.expect(try run.lastOperationID(), is: 0, "the last operation id")
            let (one, count) = try run.store.read {
                (try $0.operation(id: 1), try $0.operationCount(in: nil))
            }
            try run.expect(one, is: nil, "the operation 1")
            try run.expect(count, is: 0, "the count")
        }
        StoreRule("queue.put.exact", "An operation is stored with all its properties.") { run in
            let item = Fixture.items[0]
            let full = TableOperation(
                id: 7, table: "Thing", itemID: "a", kind: .delete, state: .attempted, revision: 3,
                refusals: 2,
                lastAttempt: Fixture.timestamp("2020-01-01T00:00:00.1234567Z"), lastStatus: 503, base: item,
                version: "\"1\0\"", serverItem: Item(id: "a", system: SystemProperties(deleted: true)),
                deletedItem: Fixture.items[4],
                sent: .init(kind: .update, fields: ["ratio": -0.0, "label": nil], version: ""),
                replaces: true, isAdopted: true, isPerformed: true,
                changedAt: Fixture.timestamp("2020-01-02T00:00:00.7654321Z"))
            try run.put([full, Fixture.operation(8, .insert)])
            let (found, listed) = try run.store.read {
                (try $0.operation(id: 7), try $0.operations(after: 0, in: nil, limit: 10))
            }
            try run.expect(found, is: full, "the operation by its id")
            try run.expect(listed, is: [full, Fixture.operation(8, .insert)], "the queue")
            let ofItem = try run.store.read { try $0.operations(forItem: "a", in: "Thing") }
            try run.expect(ofItem, is: [full, Fixture.operation(8, .insert)], "the item's operations")
        }
        StoreRule("queue.put.kinds", "Every kind and every state of an operation is stored.") { run in
            let operations = TableOperation.Kind.allCases.flatMap { kind in
                TableOperation.State.allCases.map { (kind, $0) }
            }.enumerated().map { index, pair in
                TableOperation(id: Int64(index + 1), table: "Thing", itemID: "a", kind: pair.0, state: pair.1)
            }
            try run.put(operations)
            let listed = try run.store.read { try $0.operations(after: 0, in: nil, limit: .max) }
            try run.expect(listed, is: operations, "the queue")
        }
        StoreRule(
            "queue.put.replaces",
            "Putting an operation again replaces all its properties and keeps its position."
        ) {
            run in
            try run.put((1...3).map { Fixture.operation($0) })
            var changed = Fixture.operation(2, .delete)
            changed.refusals = 4
            try run.put([changed])
            try run.expect(try run.queue(), is: [1, 2, 3], "the queue")
            try run.expect(try run.store.read { try $0.operation(id: 2) }, is: changed, "the operation")
            try run.expect(try run.store.read { try $0.operationCount(in: nil) }, is: 3, "the count")
        }
        StoreRule("queue.put.moves", "Putting an operation again for another item or table moves it.") {
            run in
            try run.put([Fixture.operation(1, item: "a"), Fixture.operation(2, item: "a")])
            try run.put([Fixture.operation(1, item: "b", in: "Thing2")])
            try run.store.read { snapshot in
                try run.expect(try snapshot.operations(forItem: "a", in: "Thing").map(\.id), is: [2], "of a")
                try run.expect(try snapshot.operations(forItem: "b", in: "Thing2").map(\.id), is: [1], "of b")
                try run.expect(
                    try snapshot.operations(after: 0, in: "Thing", limit: 9).map(\.id), is: [2], "of Thing")
                try run.expect(try snapshot.operationCount(in: "Thing"), is: 1, "count of Thing")
                try run.expect(try snapshot.operationCount(in: "Thing2"), is: 1, "count of Thing2")
            }
        }
        StoreRule("queue.order", "Operations are in ascending order of id.") { run in
            try run.put([5, 300, 2, 70_000, 255, 256, 1, 65_536].map { Fixture.operation($0) })
            try run.expect(try run.queue(), is: [1, 2, 5, 255, 256, 300, 65_536, 70_000], "the queue")
        }
        StoreRule("queue.order.all-tables", "Operations of all tables are in ascending order of id.") { run in
            try run.put(
                (1...9).map { Fixture.operation($0, in: ["order", "Thing2", "Thing"][Int($0) % 3]) }
                    .reversed())
            try run.expect(try run.queue(), is: Array(1...9), "the queue of all tables")
            try run.expect(try run.queue(in: "Thing"), is: [2, 5, 8], "the queue of Thing")
        }
        StoreRule("queue.after", "A page contains the operations after an id, without that id.") { run in
            try run.put([2, 4, 6, 8].map { Fixture.operation($0) })
            try run.expect(try run.queue(after: 4), is: [6, 8], "after 4")
            try run.expect(try run.queue(after: 5), is: [6, 8], "after 5")
            try run.expect(try run.queue(after: 8), is: [], "after the last")
            try run.expect(try run.queue(after: .max), is: [], "after the maximum id")
            try run.expect(try run.queue(after: 1, in: "Thing"), is: [2, 4, 6, 8], "of the table after 1")
        }
        StoreRule("queue.limit", "A limit restricts a page to the first operations.") { run in
            try run.put((1...10).map { Fixture.operation($0, in: $0 % 2 == 0 ? "Thing" : "order") })
            try run.expect(try run.queue(limit: 3), is: [1, 2, 3], "a page of 3")
            try run.expect(try run.queue(after: 3, limit: 3), is: [4, 5, 6], "the next")
            try run.expect(try run.queue(in: "Thing", limit: 2), is: [2, 4], "a page of a table")
            try run.expect(try run.queue(after: 4, in: "Thing", limit: 2), is: [6, 8], "the next")
            try run.expect(try run.queue(limit: 0), is: [], "a page of 0")
        }
        StoreRule("queue.table", "The queue of a table contains only operations of the exact table name.") {
            run in
            let names = ["Thing", "Thing2", "thing", "Thin", "", "e\u{301}", "\u{e9}"]
            try run.put(names.enumerated().map { Fixture.operation(Int64($0 + 1), in: $1) })
            for (index, name) in names.enumerated() {
                try run.expect(
                    try run.queue(in: name), is: [Int64(index + 1)], "the queue of \(name.exactDescription)")
                let count = try run.store.read { try $0.operationCount(in: name) }
                try run.expect(count, is: 1, "the count of \(name.exactDescription)")
            }
        }
        StoreRule(
            "queue.undeclared-table", "Operations of an undeclared table are stored like others."
        ) { run in
            try run.put([Fixture.operation(1, in: "Gone"), Fixture.operation(2, in: "Thing")])
            try run.expect(try run.queue(), is: [1, 2], "the queue")
            let ofItem = try run.store.read { try $0.operations(forItem: "a", in: "Gone").map(\.id) }
            try run.expect(ofItem, is: [1], "operations of the item")
            try run.store.write { try $0.removeOperation(id: 1) }
            try run.expect(try run.queue(), is: [2], "the queue without it")
        }
        StoreRule("queue.of-item", "The operations of an item are those with its id and table, in order.") {
            run in
            try run.put([
                Fixture.operation(4, item: "a"), Fixture.operation(1, item: "a"),
                Fixture.operation(2, item: "b"),
                Fixture.operation(3, item: "a", in: "Thing2"), Fixture.operation(5, item: "A"),
            ])
            let found = try run.store.read { try $0.operations(forItem: "a", in: "Thing").map(\.id) }
            try run.expect(found, is: [1, 4], "the operations of 'a'")
            let none = try run.store.read { try $0.operations(forItem: "missing", in: "Thing").map(\.id) }
            try run.expect(none, is: [], "the operations of an item without any")
        }
        StoreRule("queue.of-item.bytes", "Operations of items whose ids differ in any byte are separate.") {
            run in
            let ids = ["e\u{301}", "\u{e9}", "a", "a ", String(repeating: "\u{1F600}", count: 255)]
            try run.put(ids.enumerated().map { Fixture.operation(Int64($0 + 1), item: $1) })
            for (index, id) in ids.enumerated() {
                let found = try run.store.read { try $0.operations(forItem: id, in: "Thing").map(\.id) }
                try run.expect(found, is: [Int64(index + 1)], "the operations of \(id.exactDescription)")
            }
        }
        StoreRule("queue.count", "Counts are those of the existing operations, of one table or of all.") {
            run in
            try run.put((1...7).map { Fixture.operation($0, in: $0 < 3 ? "Thing2" : "Thing") })
            try run.store.write { for id: Int64 in [1, 5, 99] { try $0.removeOperation(id: id) } }
            try run.store.read { snapshot in
                try run.expect(try snapshot.operationCount(in: nil), is: 5, "of all")
                try run.expect(try snapshot.operationCount(in: "Thing2"), is: 1, "of Thing2")
                try run.expect(try snapshot.operationCount(in: "Thing"), is: 4, "of Thing")
                try run.expect(try snapshot.operationCount(in: "order"), is: 0, "of a table without any")
            }
        }
        StoreRule("queue.remove", "A removed operation is not found by any read.") { run in
            try run.put((1...3).map { Fixture.operation($0) })
            try run.store.write { try $0.removeOperation(id: 2) }
            try run.expect(try run.queue(), is: [1, 3], "the queue")
            try run.expect(try run.queue(in: "Thing"), is: [1, 3], "the queue of the table")
            try run.store.read { snapshot in
                try run.expect(try snapshot.operation(id: 2), is: nil, "by its id")
                try run.expect(
                    try snapshot.operations(forItem: "a", in: "Thing").map(\.id), is: [1, 3], "by its item")
                try run.expect(try snapshot.operationCount(in: nil), is: 2, "in the count")
            }
        }
        StoreRule("queue.remove.missing", "Removing a missing operation changes nothing.") { run in
            try run.put([Fixture.operation(1)])
            try run.expectUnchanged("the store") {
                try run.store.write { for id: Int64 in [2, 99, .max] { try $0.removeOperation(id: id) } }
            }
        }
        StoreRule("queue.remove.keeps-error", "Removing an operation keeps its error and its item.") { run in
            try run.put([Item(id: "a")])
            try run.put([Fixture.operation(1)])
            try run.put([Fixture.error(1)])
            try run.store.write { try $0.removeOperation(id: 1) }
            let error = try run.store.read { try $0.operationError(operationID: 1) }
            try run.expect(error, is: Fixture.error(1), "the error")
            try run.expect(try run.ids(), is: ["a"], "the items")
        }
        StoreRule("queue.last-id", "The last operation id is the highest ever put.") { run in
            try run.put([Fixture.operation(5)])
            try run.expect(try run.lastOperationID(), is: 5, "after putting 5")
            try run.put([Fixture.operation(3)])
            try run.expect(try run.lastOperationID(), is: 5, "after putting 3")
            try run.put([Fixture.operation(9), Fixture.operation(7)])
            try run.expect(try run.lastOperationID(), is: 9, "after putting 9 and 7")
        }
        StoreRule("queue.last-id.removal", "Removing operations does not lower the last operation id.") {
            run in
            try run.put((1...4).map { Fixture.operation($0) })
            try run.store.write { for id: Int64 in [4, 3] { try $0.removeOperation(id: id) } }
            try run.expect(try run.lastOperationID(), is: 4, "after removing the highest")
            try run.store.write { for id: Int64 in [1, 2] { try $0.removeOperation(id: id) } }
            try run.expect(try run.lastOperationID(), is: 4, "after the queue is empty")
        }
        StoreRule(
            "queue.last-id.inside",
            "In a transaction, the last operation id includes the operations put in it."
        ) { run in
            try run.store.write { transaction in
                for _ in 0..<3 {
                    let id = try transaction.lastOperationID() + 1
                    try transaction.put(Fixture.operation(id))
                    try transaction.removeOperation(id: id)
                }
                try run.expect(try transaction.lastOperationID(), is: 3, "after three")
            }
            try run.expect(try run.lastOperationID(), is: 3, "after the transaction")
        }
        StoreRule(
            "queue.last-id.rollback", "A failed transaction does not change the last operation id."
        ) { run in
            try run.put([Fixture.operation(2)])
            try? run.store.write { transaction in
                try transaction.put(Fixture.operation(50))
                throw AppError()
            }
            try run.expect(try run.lastOperationID(), is: 2, "after a transaction that threw")
        }
        StoreRule("queue.ids.large", "Operation ids may be as large as the maximum integer.") { run in
            let ids: [Int64] = [1, 1 << 31, 1 << 32, (1 << 53) + 1, .max - 1, .max]
            try run.put(ids.map { Fixture.operation($0) })
            try run.expect(try run.queue(), is: ids, "the queue")
            try run.expect(try run.queue(after: 1 << 53), is: [(1 << 53) + 1, .max - 1, .max], "after 2^53")
            try run.expect(try run.lastOperationID(), is: .max, "the last operation id")
        }
        StoreRule("queue.inside", "A transaction sees its own changes of the queue.") { run in
            try run.put([Fixture.operation(1)])
            try run.store.write { transaction in
                try transaction.put(Fixture.operation(2))
                try transaction.removeOperation(id: 1)
                try run.expect(
                    try transaction.operations(after: 0, in: nil, limit: 9).map(\.id), is: [2], "the queue")
                try run.expect(try transaction.operationCount(in: "Thing"), is: 1, "the count")
                try run.expect(
                    try transaction.operations(forItem: "a", in: "Thing").map(\.id), is: [2], "of the item")
            }
        }
    }
}
