// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// A store is bound to the user whose rows it contains.
@Suite struct UserBindingTests {
    /// Returns a context of that user with the device's store.
    private func context(_ scenario: Scenario, _ a: Device, _ userID: String?) -> SyncContext {
        SyncContext(
            client: SyncClient(url: scenario.server.url, transport: .patient), dataSource: a.store,
            userID: userID)
    }

    @Test(arguments: StoreKind.allCases)
    func `every call of another user is refused until the store is purged`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let anna = context(scenario, a, "anna")
            try await anna.table(Todo.name).insert(["id": "x", "text": "Anna's"])
            try await anna.push()
            try await anna.pull(Todo.query, queryID: "all")
            try await anna.table(Todo.name).update(id: "x", ["text": "not pushed"])
            try await context(scenario, a, "anna").push(budget: PushBudget())
            try await anna.table(Todo.name).update(id: "x", ["text": "pending"])

            let bert = context(scenario, a, "bert")
            scenario.server.removeRequests()
            let calls: [() async throws -> Void] = [
                { _ = try await bert.table(Todo.name).items() },
                { try await bert.table(Todo.name).insert(["text": "?"]) },
                { try await bert.push() }, { try await bert.pull(Todo.query) },
                { try await bert.pull(Todo.query, queryID: "all", settings: .withoutPush) },
                { try await bert.purge(Todo.query, pending: .discard) },
                { try await bert.reconcile(Todo.query) }, { try await bert.purgeAll(pending: .push) },
            ]
            for call in calls {
                let error = await expectError(.storeOfAnotherUser) { try await call() }
                #expect(error?.message.contains("purgeAll") == true)
            }
            #expect(scenario.server.requests.isEmpty)
            await expectError(.purgeRefused) { try await bert.purgeAll() }
            #expect(try await anna.table(Todo.name).items().count == 1)

            try await bert.purgeAll(pending: .discard)
            #expect(try await bert.table(Todo.name).items().isEmpty)
            #expect(try await bert.pendingOperationCount() == 0)
            #expect(try await bert.deltaTokens(of: Todo.name).isEmpty)
            try await bert.pull(Todo.query, queryID: "all")
            #expect(try await bert.table(Todo.name).items().count == 1)
            await expectError(.storeOfAnotherUser) {
                _ = try await context(scenario, a, "anna").table(Todo.name).items()
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a store is bound to its first user, and a context without a user is not checked`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x"])
            _ = try await context(scenario, a, "anna").table(Todo.name).items()
            #expect(try await a.table.items().count == 1)
            await expectError(.storeOfAnotherUser) {
                _ = try await context(scenario, a, "bert").table(Todo.name).items()
            }
        }
    }

    @Test func `calls are refused after the store was bound to another user`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            func context(_ user: String) -> SyncContext {
                SyncContext(
                    client: SyncClient(url: scenario.server.url, transport: .patient), dataSource: a.store,
                    userID: user)
            }
            let (anna, bert) = (context("anna"), context("bert"))
            _ = try await anna.table(Todo.name).items()
            try await bert.purgeAll(pending: .discard)
            await expectError(.storeOfAnotherUser) {
                try await anna.table(Todo.name).insert(["text": "Anna's"])
            }
            await expectError(.storeOfAnotherUser) { try await anna.pull(Todo.query) }
        }
    }

    @Test func `a store that a context without a user has purged is bound again before rows are stored`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            let (anna, bert) = (context(scenario, a, "anna"), context(scenario, a, "bert"))
            _ = try await anna.table(Todo.name).items()
            try await context(scenario, a, nil).purgeAll(pending: .discard)
            try await anna.table(Todo.name).insert(["text": "Anna's"])
            await expectError(.storeOfAnotherUser) { try await bert.push() }
            try await anna.push()
            #expect(try scenario.serverTexts() == ["Anna's"])
        }
    }

    /// The ids of operations begin at one in each store.
    @Test func `a decision about an error of another store changes nothing`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            try await a.table.insert(["id": "a", "text": "A's"])
            try await b.table.insert(["id": "b", "text": "B's"])
            scenario.server.onRequest { $0.isWrite ? .refusal(400) : .none }
            let error = try await a.expectPushError()
            #expect(try await b.expectPushError().operationID == error.operationID)
            await expectError(.operationNotFound) { try await b.context.cancelAndDiscardItem(for: error) }
            await expectError(.operationNotFound) {
                try await b.context.keepAndUpdateItem(for: error, with: Item(id: "a", fields: ["text": "?"]))
            }
            scenario.server.onRequest(nil)
            try await b.sync()
            #expect(try scenario.serverTexts() == ["B's"])
        }
    }

    @Test func `a pull checks the user before it reads the query`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            _ = try await context(scenario, a, "anna").table(Todo.name).items()
            await expectError(.storeOfAnotherUser) {
                try await context(scenario, a, "bert").pull(Todo.query, queryID: "")
            }
        }
    }
}
