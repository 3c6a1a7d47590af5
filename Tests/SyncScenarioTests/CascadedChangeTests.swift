// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// A foreign key of the app's database would remove items whose changes were not sent: only the item has their values.
@Suite struct CascadedChangeTests {
    private let lists = TableQuery("List")
    private let entries = TableQuery("Entry")

    /// Runs the body with an entry that was inserted on the device.
    private func run(_ body: (Scenario, SyncContext) async throws -> Void) async throws {
        try await MigratedApp.runWithLists { _, scenario, device in
            for table in [lists, entries] {
                try await device.context.pull(table, queryID: "all", settings: .withoutPush)
            }
            try await device.context.table("Entry").insert(["id": "new", "list": "l"])
            try await body(scenario, device.context)
        }
    }

    @Test(arguments: [SyncContext.PurgePolicy.push, .refuse])
    func `a purge of the parents is refused while changes of the children are pending`(
        _ policy: SyncContext.PurgePolicy
    ) async throws {
        try await run { _, context in
            await expectError(.purgeRefused) { try await context.purge(lists, pending: policy) }
            #expect(try await context.table("List").items().map(\.id) == ["l"])
            #expect(try await context.table("Entry").items().map(\.id).sorted() == ["e", "new"])
            try await context.push()
            try await context.purge(lists, pending: policy)
            #expect(try await context.table("Entry").items().isEmpty)
        }
    }

    @Test func `a reconciliation of the parents is refused while changes of the children are pending`()
        async throws
    {
        try await run { scenario, context in
            let open = lists.where(.column("text") == "open")
            try await scenario.server.update("l", ["text": "archived"], in: "List")
            await expectError(.reconcileRefused) { try await context.reconcile(open, removingMost: true) }
            #expect(try await context.table("Entry").items().map(\.id).sorted() == ["e", "new"])
            try await context.push()
            #expect(try await context.reconcile(open, removingMost: true) == 1)
        }
    }

    @Test func `an item that a pulled tombstone of its parent removes can be stored again`() async throws {
        try await run { scenario, context in
            try await scenario.server.remove("l", in: "List")
            try await context.pull(lists, queryID: "all", settings: .withoutPush)
            #expect(try await context.table("Entry").items().isEmpty)
            let error = await expectError(.pushCompletedWithErrors) { try await context.push() }
            let failure = try #require(error?.pushResult?.errors.first)
            #expect(failure.code == .expectedItem)
            var item = try #require(failure.item)
            #expect(item["list"] == "l")

            try await scenario.server.put("other", ["text": "open"], in: "List")
            try await context.pull(lists, queryID: "all", settings: .withoutPush)
            item["list"] = "other"
            try await context.keepAndUpdateItem(for: failure, with: item)
            try await context.push()
            #expect(try scenario.server.row("new", in: "Entry")?.fields["list"] == "other")
        }
    }
}
