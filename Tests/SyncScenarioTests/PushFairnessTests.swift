// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// No operation keeps others from being sent, also not together with others like it.
@Suite struct PushFairnessTests {
    private static let tables = [
        SyncTableDefinition(
            "Item", columns: [SyncColumn("text", .text), SyncColumn("list", .text)], parents: ["List"]),
        SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
    ]

    /// Runs the body with tables of parents and children.
    private func run(
        on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) {
            $0.tables += [.init("List", softDelete: false), .init("Item")]
        } _: { scenario in
            try await body(
                scenario,
                try scenario.device(settings: .singleAttempt, tables: Self.tables + [Todo.definition]))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `operations that always cause a server error do not block one that has failed once`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            for index in 0..<3 { try await a.table.insert(["id": .text("poison-\(index)")]) }
            try await a.table.insert(["id": "fine"])
            scenario.server.onRequest { _ in .refusal(500) }
            for _ in 0..<2 { await expectError(.pushAbortedService) { try await a.context.push() } }
            scenario.failPoisonedRequests()
            for _ in 0..<2 { _ = try? await a.context.push() }
            #expect(try scenario.row("fine") != nil)
        }
    }

    /// Each round continues after its own last operation.
    @Test(arguments: StoreKind.allCases)
    func `a conflict of a child does not keep failing parents in front of one that has failed once`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await items.insert(["id": "milk"])
            try await a.context.push()
            for index in 0..<3 { try await lists.insert(["id": .text("poison-\(index)")]) }
            try await lists.insert(["id": "fine"])
            try await scenario.server.update("milk", ["text": "theirs"], in: "Item")
            try await items.update(id: "milk", ["text": "ours"])
            scenario.server.onRequest { $0.table == "List" ? .refusal(500) : .none }
            // The conflict is sent after three of them in the last of these pushes.
            for _ in 0..<3 { _ = try? await a.context.push() }
            scenario.failPoisonedRequests()
            for _ in 0..<3 { _ = try? await a.context.push() }
            #expect(try scenario.server.row("fine", in: "List") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `failing parents do not block a child whose own parent is on the server now`(_ kind: StoreKind)
        async throws
    {
        try await run(on: kind) { scenario, a in
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            for index in 0..<3 { try await lists.insert(["id": .text("poison-\(index)")]) }
            try await lists.insert(["id": "food"])
            try await items.insert(["id": "milk", "list": "food"])
            scenario.server.onRequest { $0.table == "List" ? .refusal(400) : .none }
            #expect(await a.expectPushErrors().count == 5)
            scenario.failPoisonedRequests()
            for _ in 0..<2 { _ = try? await a.context.push() }
            #expect(try scenario.server.row("milk", in: "Item") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict of a parent does not use up the budget of the pushes of children`(_ kind: StoreKind)
        async throws
    {
        try await run(on: kind) { scenario, a in
            let lists = a.context.table("List")
            try await lists.insert(["id": "food"])
            try await a.context.push()
            try await scenario.server.update("food", ["text": "theirs"], in: "List")
            try await lists.update(id: "food", ["text": "ours"])
            _ = try await a.expectPushError()
            try await a.context.table("Item").insert(["id": "milk"])
            _ = try? await a.context.push(budget: PushBudget(operations: 1))
            #expect(try scenario.server.row("milk", in: "Item") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a child is not sent before its parent that was deleted and inserted again`(_ kind: StoreKind)
        async throws
    {
        try await run(on: kind) { scenario, a in
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await lists.insert(["id": "food"])
            try await a.context.push()
            try await lists.delete(id: "food")
            scenario.server.inject(.dropRequest)
            _ = try? await a.context.push()
            try await lists.insert(["id": "food", "text": "again"])
            try await items.insert(["id": "milk", "list": "food"])
            scenario.server.removeRequests()
            try await a.context.push()
            let tables = scenario.writes().map(\.table)
            #expect(tables.firstIndex(of: "Item") == tables.count - 1)
            #expect(try scenario.server.row("food", in: "List")?.fields["text"] == "again")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parent and a child that are inserted while children are pushed are sent by that push`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await items.insert(["id": "first"])
            let result = try await scenario.push(a) { _ in
                try await lists.insert(["id": "food"])
                try await items.insert(["id": "milk", "list": "food"])
            }
            #expect(try result.get().completed == 3)
            #expect(try await a.context.operationErrors().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changes that are made while children or failed operations are pushed are sent by that push`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await a.context.table("Item").insert(["id": "first"])
            var result = try await scenario.push(a) { _ in
                try await a.context.table("List").insert(["id": "food"])
                try await a.table.insert(["id": "todo"])
            }
            #expect(try result.get().completed == 3)
            try await a.table.insert(["id": "failed"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = try await a.expectPushError()
            result = try await scenario.push(a) { _ in try await a.table.insert(["id": "meanwhile"]) }
            #expect(try result.get().completed == 2)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent, [400, 412])
    func `a parked operation or a conflict of an undeclared table does not fail pushes of other tables`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List")] }) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let old = try scenario.device(settings: settings, tables: [Todo.definition, Self.tables[1]])
            try await old.context.table("List").insert(["id": "food"])
            try await old.context.push()
            try await old.context.table("List").update(id: "food", ["text": "ours"])
            try await scenario.server.update("food", ["text": "theirs"], in: "List")
            if status == 400 { scenario.server.inject(.refusal(400)) }
            #expect(try await old.expectPushError().status == status)
            try await old.context.close()
            let new = try scenario.device(settings: settings)
            try await new.table.insert(["id": "x"])
            let result = try await new.context.push()
            #expect(result.completed == 1)
            #expect(result.errors.map(\.itemID) == ["food"])
            try await new.context.cancelAndDiscardItem(for: try #require(result.errors.first))
            #expect(try await new.context.push().errors.isEmpty)
        }
    }
}
