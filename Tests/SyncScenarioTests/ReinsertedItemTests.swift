// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Items that are deleted and inserted again while their insert is sent.
@Suite struct ReinsertedItemTests {
    /// Deletes and inserts the item during the request of its insert, which the server refuses.
    private func insertAgainDuringPush(_ a: Device, _ scenario: Scenario) async throws {
        _ = try await scenario.push(a) { _ in
            try await a.context.batch { batch in
                try batch.delete(id: "x", in: Todo.name)
                try batch.insert(["id": "x", "text": "new"], in: Todo.name)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone of another client is a conflict of an item that was inserted again`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            try await insertAgainDuringPush(a, scenario)
            let error = try #require(try await a.context.operationErrors().first)
            #expect(error.isConflict && error.serverItem?.system.deleted == true)
            #expect(try scenario.row("x")?.deleted == true)
            #expect(try await a.texts() == ["new"])
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["new"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row of another client is a conflict of an enqueued item that was inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "theirs", "priority": 1], in: Todo.name)
            try a.store.write { try $0.upsert([Item(id: "x", fields: ["text": "ours"])], in: Todo.name) }
            try await a.context.enqueueExisting(Todo.query)
            try await insertAgainDuringPush(a, scenario)
            let error = try #require(try await a.context.operationErrors().first)
            #expect(error.isConflict && error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }
}
