// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Large numbers of items and large values.
    @RuleList static var sizes: [StoreRule] {
        StoreRule("size.value-1m", "Values of more than a million bytes are stored exactly.", level: .full) {
            run in
            try run.expectExact(
                .text(String(repeating: "0123456789", count: 110_000)), in: "label", "1.1 MB of text")
            try run.expectExact(.data(Data(repeating: 9, count: 1_048_577)), in: "blob", "1 MiB and a byte")
        }
        StoreRule("size.value-10m", "An item of ten million bytes is stored exactly.", level: .full) { run in
            try run.expectExact(.data(Data(repeating: 3, count: 10_000_000)), in: "blob", "10 MB")
        }
        StoreRule("size.upsert-40k", "One upsert may have 40 000 items.", level: .full) { run in
            let items = Fixture.series(40_000)
            try run.put(items)
            try run.expect(
                try run.find(TableQuery("Thing").limit(0).includingTotalCount()).totalCount, is: 40_000,
                "the number of items")
            for index in [0, 999, 1000, 32_767, 32_768, 39_999] {
                try run.expect(try run.item(items[index].id), is: items[index], "item \(index)")
            }
        }
        StoreRule("size.delete-40k", "One delete may have 40 000 ids.", level: .full) { run in
            let items = Fixture.series(40_001)
            try run.put(items)
            try run.delete(items.dropLast().map(\.id))
            try run.expect(try run.ids(), is: ["40000"], "the remaining ids")
        }
        StoreRule("delete.query.many", "A delete by query may remove any number of items.") { run in
            for count in [100, 101, 999, 1000, 1001, 2500] {
                try run.expectDeletionByQuery(of: count)
            }
        }
        StoreRule("size.delete-query-40k", "One delete by query may remove 40 000 items.", level: .full) {
            run in
            try run.expectDeletionByQuery(of: 40_000)
        }
        StoreRule(
            "size.result-12k", "A query of 12 000 items returns each of them once, as items and as rows.",
            level: .full
        ) { run in
            let items = Fixture.series(12_000)
            try run.put(items)
            let ids = items.map(\.id)
            let query = TableQuery("Thing").includingTotalCount()
            let found = try run.find(query)
            try run.expect(found.items.map(\.id), is: ids, "all ids")
            try run.expect(found.totalCount, is: 12_000, "the number of items")
            let descending = try run.find(query.order(byDescending: "count")).items.map(\.id)
            try run.expect(descending, is: ids.reversed(), "all ids, by descending count")
            try run.expect(
                try run.rows(query, ["count"]).rows.map(\.id), is: ids, "the ids of all rows")
        }
        StoreRule("size.queue-5k", "5000 operations are counted, ordered and found.", level: .full) {
            run in
            try run.put((1...5000).map { Fixture.operation($0, item: "i\($0 % 100)") })
            try run.expect(try run.queue(), is: Array(1...5000), "the queue")
            try run.expect(try run.queue(after: 2500, limit: 3), is: [2501, 2502, 2503], "a page")
            let ofItem = try run.store.read { try $0.operations(forItem: "i7", in: "Thing").map(\.id) }
            try run.expect(ofItem, is: (0..<50).map { $0 * 100 + 7 }, "operations of one item")
        }
        StoreRule(
            "size.operation-1m",
            "Operations and errors whose rows have more than a million bytes each are stored exactly.",
            level: .full
        ) { run in
            func row(_ digits: String) -> Item {
                Item(id: "a", fields: ["label": .text(String(repeating: digits, count: 110_000))])
            }
            let (base, sent, serverItem) = (row("0123456789"), row("1234567890"), row("2345678901"))
            let operation = TableOperation(
                id: 1, table: "Thing", itemID: "a", kind: .update, state: .attempted, base: base,
                serverItem: serverItem, sent: .init(kind: .update, fields: sent.fields, version: nil))
            try run.put([operation])
            try run.expect(
                try run.store.read { try $0.operation(id: 1) }, is: operation, "the operation by its id")
            let listed = try run.store.read { try $0.operations(after: 0, in: nil, limit: .max) }
            try run.expect(listed, is: [operation], "the queue")
            let error = TableOperationError(
                operationID: 1, table: "Thing", itemID: "a", kind: .update, item: sent,
                serverItem: serverItem, status: 412, code: .preconditionFailed, message: "no", revision: 0)
            try run.put([error])
            try run.expect(
                try run.store.read { try $0.operationError(operationID: 1) }, is: error,
                "the error by its operation")
            try run.expect(
                try run.store.read { try $0.operationErrors(in: nil) }, is: [error], "the log")
        }
        StoreRule("size.config-64k", "Config names and values may be long.", level: .full) { run in
            let names = ["a", "b"].map { String(repeating: "n", count: 5000) + $0 }
            for name in names { try run.set(String(repeating: name, count: 20), for: Fixture.key(name)) }
            for name in names {
                try run.expect(
                    try run.config(Fixture.key(name)), is: String(repeating: name, count: 20), "a long value")
            }
        }
        StoreRule(
            "size.rewrite", "A store whose items are rewritten 300 times has the last values.", level: .full
        ) { run in
            for round in 0..<300 {
                try run.put((0..<5).map { Item(id: "\($0)", fields: ["count": .int(Int64(round * 5 + $0))]) })
            }
            let found = try run.find(TableQuery("Thing")).items.compactMap { $0["count"] }
            try run.expect(found, is: (1495..<1500).map { ItemValue.int($0) }, "the last counts")
        }
    }
}

extension RuleRun {
    /// Deletes this number of items by a query, and expects one other item to remain.
    fileprivate func expectDeletionByQuery(of count: Int) throws {
        try put(Fixture.series(count + 1))
        let removed = try store.write {
            try $0.deleteItems(matching: TableQuery("Thing").where(.column("count") < count))
        }
        try expect(removed, is: count, "the number of items removed of \(count + 1)")
        try expect(try ids(), is: [Fixture.number(count)], "the remaining ids of \(count + 1)")
    }
}
