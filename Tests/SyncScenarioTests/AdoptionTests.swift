// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@Suite struct AdoptionTests {
    @Test(arguments: StoreKind.allCases)
    func `existing items without operations are pushed as inserts, or as updates if the server has the row`(
        _ kind: StoreKind
    )
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            try await scenario.server.put("known", ["text": "server's", "priority": 5], in: Todo.name)
            try device.store.write { transaction in
                try transaction.upsert(
                    [Item(id: "known", fields: ["text": "ours"]), Item(id: "new", fields: ["text": "new"])],
                    in: Todo.name)
            }
            #expect(try await device.context.enqueueExisting(Todo.query) == 2)
            #expect(try await device.context.enqueueExisting(Todo.query) == 0)
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["new", "ours"])
            #expect(try scenario.server.row("known", in: Todo.name)?.fields["priority"] == 5)
            #expect(try await device.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changes made directly in the store are enqueued and pushed`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            let changed = try await device.table.insert(["text": "changed"])
            let deleted = try await device.table.insert(["text": "deleted"])
            try await device.sync()
            let gone = try #require(try await device.table.item(id: deleted.id))
            try device.store.write { transaction in
                var item = try #require(try transaction.item(id: changed.id, in: Todo.name))
                item["text"] = "changed directly"
                try transaction.upsert([item, Item(id: "added", fields: ["text": "added"])], in: Todo.name)
                try transaction.deleteItems(ids: [deleted.id], in: Todo.name)
            }
            try await device.context.enqueueExternalChanges(
                in: Todo.name, changed: [changed.id, "added"], deleted: [gone])
            #expect(try await device.operations().map(\.kind) == [.update, .insert, .delete])
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["added", "changed directly"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile removes only items that the server does not return`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            for id in ["stays", "hard deleted", "left the filter", "edited here"] {
                try await scenario.server.put(id, ["text": .text(id), "complete": false], in: Todo.name)
            }
            let open = Todo.query.where(.column("complete") == false)
            try await device.context.pull(open, queryID: "open")
            try await scenario.server.remove("hard deleted", in: Todo.name, leavingTombstone: false)
            try await scenario.server.remove("edited here", in: Todo.name, leavingTombstone: false)
            try await scenario.server.update("left the filter", ["complete": true], in: Todo.name)
            try await device.table.update(id: "edited here", ["text": "edited here too"])
            try await device.table.insert(["id": "never sent", "complete": false])
            try await device.context.pull(open, queryID: "open", settings: .anyway)
            #expect(try await device.table.items().count == 5)

            #expect(try await device.context.reconcile(open) == 2)
            let left = try await device.table.items().map(\.id)
            #expect(left == ["edited here", "never sent", "stays"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the status shows pending operations, a running push and the last result`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            var statuses = device.context.observeStatus().makeAsyncIterator()
            #expect(try await statuses.next()?.pendingOperations == 0)
            try await device.table.insert(["text": "x"])
            #expect(try await statuses.next()?.pendingOperations == 1)

            let gate = RequestGate()
            scenario.server.inject(.hold(gate), .refusal(403))
            async let push = device.context.push()
            await gate.waitForArrivals()
            #expect(try await device.context.status().isPushing)
            gate.open()
            _ = try await push
            let done = try await device.context.status()
            #expect(!done.isPushing && done.pendingOperations == 0 && done.lastSuccess != nil)

            try await device.table.insert(["text": "y"])
            await expectError(.pushCompletedWithErrors) { try await device.context.push() }
            #expect(try await device.context.status().lastError?.code == .pushCompletedWithErrors)
            try await device.sync()
            #expect(try await device.context.status().lastError == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an observed query yields a new result only after a change of its rows`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            var results = device.table.observe(Todo.query.where(.column("complete") == false))
                .makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await device.table.insert(["id": "done", "complete": true])
            try await device.table.insert(["id": "open", "complete": false])
            #expect(try await results.next()?.items.map(\.id) == ["open"])
            try await device.table.delete(id: "done")
            try await device.table.update(id: "open", ["complete": true])
            #expect(try await results.next()?.items.isEmpty == true)
            try await device.context.close()
            #expect(try await results.next() == nil)
        }
    }
}

extension PullSettings {
    /// Without pushing first.
    static var anyway: PullSettings {
        var settings = PullSettings()
        settings.pending = .pullAnyway
        return settings
    }
}
