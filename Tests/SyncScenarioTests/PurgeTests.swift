// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Purges remove local items, and send no deletes.
@Suite struct PurgeTests {
    /// Runs the body with two pulled items and a pending operation of another table.
    private func withPulledRows(on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let a = try scenario.device(tables: [Todo.definition, other])
            for (id, complete) in [("open", false), ("done", true)] {
                try await scenario.server.put(id, ["complete": .bool(complete)], in: Todo.name)
            }
            // Otherwise the next pull reads the instant of the rows again.
            scenario.server.clock.advance(by: .seconds(2))
            try await a.sync()
            try await a.context.table("Other").insert(["id": "o", "text": "other"])
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `purged rows are pulled again, and other tables are unchanged`(
        _ kind: StoreKind
    ) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.context.purge(Todo.query)
            #expect(try await a.table.items().isEmpty)
            #expect(try await a.context.deltaTokens(of: Todo.name).isEmpty)
            #expect(try await a.operations().map(\.table) == ["Other"])
            #expect(try scenario.server.rows(in: Todo.name).filter(\.deleted).isEmpty)
            #expect(try await a.pullWithoutPush().upserted == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows purged with keepingDeltaTokens are pulled only after they change`(
        _ kind: StoreKind
    ) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.context.purge(Todo.query, keepingDeltaTokens: true)
            #expect(try await a.pullWithoutPush().upserted == 0)
            try await scenario.server.update("open", ["text": "new"], in: Todo.name)
            #expect(try await a.pullWithoutPush().upserted == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge with a filter removes matching items only`(_ kind: StoreKind) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.context.purge(Todo.query.where(.column("complete") == true))
            #expect(try await a.table.items().map(\.id) == ["open"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge with refuse changes nothing while an operation of the table is pending`(_ kind: StoreKind)
        async throws
    {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.table.update(id: "open", ["text": "edited"])
            let error = await expectError(.purgeRefused) {
                try await a.context.purge(Todo.query, pending: .refuse)
            }
            #expect(error?.message.contains("1 pending") == true)
            #expect(try await a.table.items().count == 2)
            #expect(try await a.context.deltaTokens(of: Todo.name).count == 1)
            try await a.context.push()
            try await a.context.purge(Todo.query, pending: .refuse)
            #expect(try await a.table.items().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge pushes the table's operations first, and removes nothing when the push fails`(
        _ kind: StoreKind
    ) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.table.update(id: "open", ["text": "edited"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            await expectError(.pushCompletedWithErrors) { try await a.context.purge(Todo.query) }
            #expect(try await a.table.items().count == 2)
            try await a.context.purge(Todo.query)
            #expect(try await a.table.items().isEmpty)
            #expect(try scenario.row("open")?.fields["text"] == "edited")
            #expect(try await a.operations().map(\.table) == ["Other"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge with discard removes items, operations, errors and tokens together`(_ kind: StoreKind)
        async throws
    {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.table.update(id: "open", ["text": "edited"])
            try await a.table.delete(id: "done")
            try await a.table.insert(["id": "new"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = try? await a.context.push(tables: [Todo.name])
            try await a.table.update(id: "new", ["text": "again"])
            try await a.context.purge(Todo.query, pending: .discard)
            #expect(try await a.table.items().isEmpty)
            #expect(try await a.operations().map(\.table) == ["Other"])
            #expect(try await a.context.operationErrors().isEmpty)
            #expect(try await a.context.deltaTokens(of: Todo.name).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge with a filter discards the operations of matching items only`(_ kind: StoreKind)
        async throws
    {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.table.update(id: "open", ["text": "kept"])
            try await a.table.update(id: "done", ["text": "discarded"])
            scenario.server.onRequest { $0.isWrite ? .refusal(400) : .none }
            _ = await a.pushErrors()
            scenario.server.onRequest { _ in .none }
            try await a.context.purge(Todo.query.where(.column("complete") == true), pending: .discard)
            #expect(try await a.table.items().map(\.id) == ["open"])
            #expect(try await a.context.operationErrors(in: Todo.name).map(\.itemID) == ["open"])
            _ = await a.pushErrors()
            #expect(try scenario.row("open")?.fields["text"] == "kept")
            #expect(try scenario.row("done")?.fields["text"] != "discarded")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge of everything can push first`(_ kind: StoreKind) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.context.purge(TableQuery("Other"), pending: .discard)
            try await a.table.update(id: "open", ["text": "pushed"])
            try await a.table.delete(id: "done")
            try await a.context.purgeAll(pending: .push)
            #expect(try scenario.row("open")?.fields["text"] == "pushed")
            #expect(try scenario.row("done")?.deleted != false)
            #expect(try await a.table.items().isEmpty)
            #expect(try await a.operations().isEmpty)
            #expect(try await a.context.deltaTokens(of: Todo.name).isEmpty)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge with discard is refused while an operation is in flight`(_ kind: StoreKind) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            try await a.table.update(id: "open", ["text": "edited"])
            let gate = RequestGate()
            scenario.server.inject(.hold(gate), when: \.isWrite)
            let push = Task { try await a.context.push(tables: [Todo.name]) }
            await gate.waitForArrivals()
            let error = await expectError(.purgeRefused) {
                try await a.context.purge(Todo.query, pending: .discard)
            }
            #expect(error?.mayRetry == true)
            #expect(try await a.table.items().count == 2)
            gate.open()
            #expect(try await push.value.completed == 1)
            try await a.context.purge(Todo.query, pending: .discard)
            #expect(try await a.table.items().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge during a pull resets the delta token, and the next pull receives all rows`(
        _ kind: StoreKind
    ) async throws {
        try await withPulledRows(on: kind) { scenario, a in
            for number in 0..<25 { try await scenario.server.put("row-\(number)", [:], in: Todo.name) }
            scenario.server.removeRequests()
            scenario.server.onRequest { request in
                if request.isPage, scenario.server.requests.count == 3 {
                    try? await a.context.purge(Todo.query, pending: .discard)
                }
                return .none
            }
            var settings = PullSettings.withoutPush
            settings.pageSize = 10
            let purged = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(purged.deltaToken == nil)
            scenario.server.onRequest(nil)
            let whole = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(whole.deltaToken != nil)
            #expect(try await a.table.items().count == 27)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a purge of everything includes the items of a table that the app declares again later`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let old = try scenario.device(tables: [Todo.definition, other])
            try await old.context.table("Other").insert(["id": "o", "text": "private"])
            try await old.context.close()
            let purging = try scenario.device()
            try await purging.context.purgeAll(pending: .discard)
            try await purging.context.close()
            let new = try scenario.device(tables: [Todo.definition, other])
            #expect(try await new.context.table("Other").items().isEmpty)
            try await new.context.table("Other").insert(["id": "n", "text": "after the purge"])
            try await new.context.close()
            let last = try scenario.device(tables: [Todo.definition, other])
            #expect(try await last.context.table("Other").items().map(\.id) == ["n"])
        }
    }

    /// The rows are the app's own: they were never synced.
    @Test(arguments: StoreKind.persistent)
    func `a purge of everything does not include a table that the app declares for the first time later`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let purging = try scenario.device()
            try await purging.table.insert(["id": "x"])
            try await purging.context.purgeAll(pending: .discard)
            try await purging.context.close()
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let new = try scenario.device(tables: [Todo.definition, other])
            try new.store.write { try $0.upsert([Item(id: "o", fields: ["text": "own"])], in: "Other") }
            #expect(try await new.context.enqueueExisting(TableQuery("Other")) == 1)
            #expect(try await new.context.table("Other").items().map(\.id) == ["o"])
        }
    }

    /// Files of older builds have no stamps.
    @Test(arguments: StoreKind.persistent, ["token", "row", "purge"])
    func `a purge of everything includes a synced table without a stamp that is declared again later`(
        _ kind: StoreKind, _ evidence: String
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let old = try scenario.device(tables: [Todo.definition, other])
            if evidence == "row" {
                try await scenario.server.put("o", ["text": "private"], in: "Other")
                try await old.context.pull(TableQuery("Other"))
            } else {
                if evidence == "token" {
                    try await scenario.server.put("p", ["text": "private"], in: "Other")
                    try await old.context.pull(TableQuery("Other"), queryID: "all")
                } else {
                    try await old.context.purge(TableQuery("Other"))
                }
                try old.store.write { transaction in
                    try transaction.deleteItems(matching: TableQuery("Other"))
                    try transaction.upsert([Item(id: "o", fields: ["text": "private"])], in: "Other")
                }
            }
            try old.store.write {
                try $0.setConfigValue(nil, for: ConfigKey(table: "Other", kind: .setting, name: "purge"))
            }
            try await old.context.close()
            let purging = try scenario.device()
            try await purging.context.purgeAll(pending: .discard)
            try await purging.context.close()
            let new = try scenario.device(tables: [Todo.definition, other])
            #expect(try await new.context.table("Other").items().isEmpty)
            try await new.context.close()
        }
    }
}
