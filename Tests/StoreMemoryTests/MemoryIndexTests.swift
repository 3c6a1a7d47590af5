// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreMemory
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

@Suite struct MemoryIndexTests {
    private let store: MemoryStore

    init() throws {
        store = try MemoryStore(tables: [IndexedItems.table(indexed: true)])
        try IndexedItems.fill(store)
    }

    @Test func `indexed queries have the same results as the reference`() throws {
        try store.read { snapshot in
            for query in IndexedItems.filteredQueries + IndexedItems.orderedQueries {
                try #expect(
                    snapshot.items(matching: query) == query.apply(to: IndexedItems.items), "\(query)")
            }
        }
    }

    @Test func `indexes follow random changes, and a snapshot keeps its state`() throws {
        var generator = SeededGenerator(seed: 7)
        var items: [String: Item] = [:]
        try store.write { _ = try $0.deleteItems(matching: TableQuery("Todo")) }
        let values: [ItemValue?] = [nil, .null, 0, 1, 2, 1.0]
        let queries = [
            TableQuery("Todo").where(.column("integer") == 1),
            TableQuery("Todo").where(.column("integer") > 0),
            TableQuery("Todo").where(.column("integer") >= 1).order(by: "integer").limit(4),
            TableQuery("Todo").where(.column("id") == "item-3"),
        ]
        for _ in 0..<300 {
            let id = "item-\(Int.random(in: 0..<12, using: &generator))"
            if Int.random(in: 0..<4, using: &generator) == 0 {
                items[id] = nil
                try store.write { try $0.deleteItems(ids: [id], in: "Todo") }
            } else {
                let item = Item(
                    id: id,
                    fields: ["integer": values.randomElement(using: &generator) ?? nil].compactMapValues(
                        \.self))
                items[id] = item
                try store.read { before in
                    let result = try before.items(matching: queries[1])
                    try store.write { try $0.upsert([item], in: "Todo") }
                    try #expect(before.items(matching: queries[1]) == result)
                }
            }
            let expected = queries.map { $0.apply(to: items.values) }
            try store.read { snapshot in
                try #expect(queries.map { try snapshot.items(matching: $0) } == expected)
            }
        }
    }
}
