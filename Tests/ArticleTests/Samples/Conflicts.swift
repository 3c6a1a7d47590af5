// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
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
