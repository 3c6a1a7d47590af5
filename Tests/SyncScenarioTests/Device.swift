// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// One client: a context and its store.
struct Device {
    let context: SyncContext
    let store: any SyncContextDataSource

    var table: SyncTable { context.table(Todo.name) }

    /// Pushes and pulls all items.
    func sync() async throws {
        try await context.push()
        try await context.pull(Todo.query, queryID: "all")
    }

    /// Pulls all items without pushing first.
    @discardableResult
    func pullWithoutPush() async throws -> PullResult {
        try await context.pull(Todo.query, queryID: "all", settings: .withoutPush)
    }

    func item(_ id: String) async throws -> Item? { try await table.item(id: id) }

    func texts() async throws -> [String] {
        try await table.items().compactMap { $0["text"]?.textValue }.sorted()
    }

    /// Changes an item in the store, as an app does that changes its own table.
    func changeDirectly(_ id: String, _ change: @Sendable (inout Item) -> Void) throws {
        try store.write { transaction in
            var item = try #require(try transaction.item(id: id, in: Todo.name))
            change(&item)
            try transaction.upsert([item], in: Todo.name)
        }
    }

    func operations() async throws -> [TableOperation] { try await context.pendingOperations() }

    /// Pushes, and returns the errors of failed operations.
    func pushErrors() async -> [TableOperationError] {
        do {
            try await context.push()
            return []
        } catch {
            return (error as? SyncError)?.pushResult?.errors ?? []
        }
    }

    /// Pushes, and loses the response to the first write, which the server applies.
    func pushLosingResponse(of server: TableServer, sourceLocation: SourceLocation = #_sourceLocation) async {
        server.inject(.dropAnswer, when: \.isWrite)
        await expectError(.pushAbortedNetwork, sourceLocation: sourceLocation) { try await context.push() }
    }

    /// Pushes, expects that operations fail, and returns their errors.
    func expectPushErrors(
        budget: PushBudget = PushBudget(), sourceLocation: SourceLocation = #_sourceLocation
    ) async -> [TableOperationError] {
        let error = await expectError(.pushCompletedWithErrors, sourceLocation: sourceLocation) {
            try await context.push(budget: budget)
        }
        return error?.pushResult?.errors ?? []
    }

    /// Pushes, expects that exactly one operation fails, and returns its error.
    func expectPushError(
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TableOperationError {
        let errors = await expectPushErrors(sourceLocation: sourceLocation)
        #expect(errors.count == 1, sourceLocation: sourceLocation)
        return try #require(errors.first, sourceLocation: sourceLocation)
    }
}
