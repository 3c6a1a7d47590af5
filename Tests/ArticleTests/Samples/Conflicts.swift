// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore
import TableServer
import Testing

/// The samples of the article "Conflicts".
struct ConflictsSamples {
    struct DoneWins: SyncContextDelegate {
        func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
            do {
                return try await operation.execute()
            } catch let error as TableOperationError where error.isConflict {
                guard var row = error.serverItem, !row.system.deleted, operation.item?["complete"] == true
                else {
                    throw error
                }
                row["complete"] = true
                operation.item = row
                return try await operation.execute()
            }
        }
    }

    func resolve(_ conflict: TableOperationError, in context: SyncContext) async throws {
        if let row = conflict.serverItem, row.system.deleted {
            try await context.cancelAndDiscardItem(for: conflict)
        } else if var item = conflict.item, conflict.kind != .delete {
            item["text"] = conflict.serverItem?["text"]
            try await context.keepAndUpdateItem(for: conflict, with: item)
        }
    }

    @Test func `the caller of a push resolves a conflict`() async throws {
        let columns = [SyncColumn("text", .text), SyncColumn("complete", .bool)]
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url),
                dataSource: try MemoryStore(tables: [SyncTableDefinition("TodoItem", columns: columns)]))
            let todos = context.table("TodoItem")
            for id in ["changed", "deleted"] {
                try await todos.insert(["id": .text(id), "text": "Buy eggs", "complete": false])
            }
            try await context.push()
            try await server.update("changed", ["text": "Buy six eggs"], in: "TodoItem")
            try await server.remove("deleted", in: "TodoItem")
            for id in ["changed", "deleted"] { try await todos.update(id: id, ["complete": true]) }

            let error = await #expect(throws: SyncError.self) { try await context.push() }
            let conflicts = try #require(error?.pushResult?.errors)
            #expect(conflicts.count == 2)
            for conflict in conflicts { try await resolve(conflict, in: context) }
            try await context.push()

            let items = try await todos.items()
            #expect(items.map(\.fields) == [["text": "Buy six eggs", "complete": true]])
            #expect(try server.row("changed", in: "TodoItem")?.fields == items.first?.fields)
        }
    }

    @Test func `a resolver for each table`() async throws {
        var settings = SyncSettings()
        settings.resolver = .fieldMerge(onClash: .serverWins)
        settings.resolvers["Log"] = .clientWins
        settings.resolvers["TodoItem"] = ConflictResolver { conflict in
            guard var merged = conflict.serverItem, !conflict.isDeletedOnServer else { return .keepServer }
            if conflict.clientItem?["complete"] == true { merged["complete"] = true }
            return .merge(merged)
        }

        let resolver = try #require(settings.resolvers["TodoItem"])
        let operation = TableOperation(id: 1, table: "TodoItem", itemID: "a", kind: .update)
        let conflict = Conflict(
            operation: operation, clientItem: Item(id: "a", fields: ["complete": true]),
            serverItem: Item(id: "a", fields: ["complete": false]))
        #expect(
            try await resolver.resolve(conflict) == .merge(Item(id: "a", fields: ["complete": true])))
    }
}
