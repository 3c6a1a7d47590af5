// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Pulling".
struct PullingSamples {
    @Test func `pulls, progress and reconciliation`() async throws {
        let table = SyncTableDefinition("TodoItem", columns: [SyncColumn("complete", .bool)])
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            try await server.put("a", ["complete": false], in: "TodoItem")
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: [table]))

            let todos = context.table("TodoItem")
            let result = try await todos.pull(queryID: "all")
            print("\(result.upserted) stored, \(result.deleted) removed")

            for try await progress in context.pulling(todos.query, queryID: "all") {
                print("\(progress.received) rows so far")
            }

            var settings = PullSettings()
            settings.pageSize = 200
            settings.pending = .pullAnyway
            try await todos.pull(queryID: "all", settings: settings)

            let removed = try await context.reconcile(todos.query)

            #expect(result.upserted == 1 && removed == 0)
        }
    }
}
