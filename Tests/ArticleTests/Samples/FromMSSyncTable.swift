// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "From MSSyncTable".
struct FromMSSyncTableSamples {
    @Test func `the original's calls`() async throws {
        let definition = SyncTableDefinition(
            "TodoItem", columns: [SyncColumn("text", .text), SyncColumn("complete", .bool)])
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let url = server.url

            let client = SyncClient(url: url)
            let context = SyncContext(client: client, dataSource: try MemoryStore(tables: [definition]))
            let table = context.table("TodoItem")

            var item = try await table.insert(["text": "Buy milk", "complete": false])
            item["complete"] = true
            try await table.replace(item)
            let open = try await table.items(matching: table.query.where(.column("complete") == false))
            try await context.push()
            try await table.pull(queryID: "allItems")
            try await table.purge()

            #expect(open.items.isEmpty)
        }
    }
}
