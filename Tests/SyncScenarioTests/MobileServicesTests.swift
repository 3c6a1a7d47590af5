// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Devices that use the dialect v1, next to devices that use v2.
@Suite struct MobileServicesTests {
    private func oldDevice(_ scenario: Scenario) throws -> Device {
        scenario.device(
            on: try scenario.kind.open(in: scenario.directory, name: "old", tables: [Todo.definition]),
            name: "old", dialect: .v1)
    }

    @Test(arguments: StoreKind.allCases)
    func `offline inserts, edits and deletes reach devices of the other dialect`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try oldDevice(scenario), try scenario.device("B"))
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "new"]) }
            try await a.sync()
            try await b.sync()
            try await a.table.update(id: "1", ["text": "edited by v1"])
            try await a.table.delete(id: "2")
            try await b.table.update(id: "3", ["text": "edited by v2"])
            try await a.sync()
            try await b.sync()
            try await a.sync()
            #expect(try await a.texts() == ["edited by v1", "edited by v2"])
            try await scenario.expectAgreement(a)
            try await scenario.expectAgreement(b)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of a row that another device has changed is a conflict`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try oldDevice(scenario)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let error = try await a.expectPushError()
            #expect(error.isConflict && error.serverItem?["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert and an update whose responses were lost are proven, and complete`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try oldDevice(scenario)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            _ = try? await a.context.push()
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.inject(.dropAnswer)
            _ = try? await a.context.push()
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `tombstones do not count towards an offset`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            for id in ["a", "b", "c", "d"] {
                try await scenario.server.put(id, ["text": .text(id)], in: Todo.name)
            }
            try await scenario.server.remove("a", in: Todo.name)
            let a = try oldDevice(scenario)
            try await a.context.pull(Todo.query.order(by: "text").offset(1).limit(2))
            #expect(try await a.texts() == ["c", "d"])
        }
    }

    @Test func `an item of a query for some columns has a version, so that its update detects conflicts`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            let a = try oldDevice(scenario)
            let remote = a.context.client.table(Todo.name)
            let found = try await remote.query(Todo.query.select("text"))
            var item = try #require(found.items.first)
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            item["text"] = "ours"
            await expectError(.preconditionFailed) { _ = try await remote.update(item) }
        }
    }
}
