// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Queries".
struct QueriesSamples {
    enum TodoItem {
        static let text = SyncColumn("text", .text)
        static let complete = SyncColumn("complete", .bool)
        static let priority = SyncColumn("priority", .integer)
        static let due = SyncColumn("due", .date)
        static let definition = SyncTableDefinition("TodoItem", columns: [text, complete, priority, due])
    }

    @Test func `queries on the store and on the server`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let client = SyncClient(url: server.url)
            let context = SyncContext(
                client: client, dataSource: try MemoryStore(tables: [TodoItem.definition]))
            let todos = context.table("TodoItem")
            for (text, priority) in [("Buy eggs", 1), ("Buy milk", 2), ("Sleep", 3)] {
                try await todos.insert([
                    "text": .text(text), "complete": false, "priority": priority.itemValue,
                ])
            }
            try await context.push()
            let tomorrow = Date()

            let urgent = todos.query
                .where(TodoItem.complete == false && TodoItem.priority <= 2)
                .order(by: TodoItem.priority)
                .order(byDescending: TodoItem.text)
                .limit(20)
            let result = try await todos.items(matching: urgent.includingTotalCount())
            print("\(result.items.count) of \(result.totalCount ?? 0)")

            #expect(result.totalCount == 2)

            let shopping = todos.query.where(.hasPrefix(TodoItem.text, "Buy "))
            let withoutDate = todos.query.where(.isNull(TodoItem.due))
            let important = todos.query.where(.isIn(TodoItem.priority, [1, 2]))
            let soon = todos.query.where(TodoItem.due != nil && TodoItem.due < tomorrow)
            let short = todos.query.where(FilterExpression.length(TodoItem.text) < 10)
            let byName = todos.query.where(.column("priority") == 1)

            for (query, count) in [
                (shopping, 2), (withoutDate, 3), (important, 2), (soon, 0), (short, 3), (byName, 1),
            ] {
                #expect(try await todos.items(matching: query).items.count == count)
            }

            let page = todos.query.order(by: TodoItem.text).offset(1).limit(1)

            #expect(try await todos.items(matching: page).items.count == 1)

            try await todos.pull(urgent.limit(100))
            try await todos.pull(todos.query.where(TodoItem.complete == false), queryID: "open")

            let remote = try await client.table("TodoItem").query(shopping)
            print(remote.items.count)

            #expect(remote.items.count == 2)
        }
    }
}
