// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Every push reports the operations that it cannot send until the app or the user decides.
@Suite struct WaitingOperationTests {
    private func settings(parkAfter limit: Int = 1) -> SyncSettings {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = limit
        return settings
    }

    @Test(arguments: StoreKind.allCases)
    func `every push reports a parked operation, also after a restart`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.crashableDevice(settings: settings())
            try await a.table.insert(["id": "x", "text": "poison"])
            scenario.server.inject(.refusal(400))
            _ = try await a.expectPushError()
            let restarted = try scenario.restart(a, settings: settings())
            scenario.server.removeRequests()
            for _ in 0..<2 {
                let error = try await restarted.expectPushError()
                #expect(error.itemID == "x")
                #expect(error.status == 400)
            }
            #expect(scenario.writes().isEmpty)
            let status = try await restarted.context.status()
            #expect(status.parkedOperations == 1)
            #expect(status.lastError?.code == .pushCompletedWithErrors)
            // A push of no tables does not report it.
            try await restarted.context.push(tables: [])
            try await restarted.context.cancelAndDiscardItem(for: try await restarted.expectPushError())
            try await restarted.context.push()
            #expect(try await restarted.context.status().parkedOperations == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict is never parked, and every push reports it`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(parkAfter: 2))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            for _ in 0..<4 { #expect(try await a.expectPushError().isConflict) }
            #expect(try await a.operations().map(\.state) == [.pending])
            #expect(try await a.context.status().conflictingOperations == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every push reports a conflict that a resolver keeps pending`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = settings()
            settings.resolver = .keepPending
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            for _ in 0..<4 { #expect(try await a.expectPushError().isConflict) }
            #expect(try await a.operations().map(\.state) == [.pending])
        }
    }

    /// Prepares a parked delete with unknown outcome, and an insert of the same id behind it.
    private func parkDelete(_ scenario: Scenario, _ a: Device) async throws {
        try await scenario.server.put("x", ["text": "old"], in: Todo.name)
        try await a.sync()
        try await a.table.delete(id: "x")
        scenario.server.inject(.dropRequest)
        _ = try? await a.context.push()
        try await a.table.insert(["id": "x", "text": "new"])
        scenario.server.inject(.refusal(400), when: { $0.method == "DELETE" })
        _ = try? await a.context.push()
    }

    @Test(arguments: StoreKind.allCases)
    func `a push also reports the operation behind a parked one`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings())
            try await parkDelete(scenario, a)
            #expect(try await a.operations().map(\.kind) == [.delete, .insert])
            #expect(try await a.operations().first?.state == .parked)
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.kind) == [.delete, .insert])
            #expect(errors.last?.code == .operationHeld)
            let status = try await a.context.status()
            #expect(status.parkedOperations == 1)
            #expect(status.heldOperations == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `discarding a parked delete keeps the new item, which replaces the row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings())
            try await parkDelete(scenario, a)
            let errors = await a.expectPushErrors()
            try await a.context.cancelAndDiscardItem(for: try #require(errors.first))
            #expect(try await a.item("x")?["text"] == "new")
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a held operation can be discarded alone`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings())
            try await parkDelete(scenario, a)
            let errors = await a.expectPushErrors()
            try await a.context.cancelAndDiscardItem(for: try #require(errors.last))
            #expect(try await a.operations().map(\.kind) == [.delete])
            #expect(try await a.item("x") == nil)
            try await a.context.cancelAndDiscardItem(for: try await a.expectPushError())
            #expect(try await a.item("x")?["text"] == "old")
            try await scenario.expectAgreement(a)
        }
    }

    // MARK: Parents

    private static let family = [
        SyncTableDefinition(
            "Item", columns: [SyncColumn("text", .text), SyncColumn("list", .text)], parents: ["List"]),
        SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
    ]

    @Test(arguments: StoreKind.allCases)
    func `an edit that a crash has left behind a held operation waits with it`(_ kind: StoreKind) async throws
    {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let first = try scenario.crashableDevice(settings: .singleAttempt, tables: Self.family)
            try await first.context.table("Item").insert(["id": "child", "text": "one"])
            var a = first
            _ = try await scenario.push(first, then: .dropRequest) { _ in
                try await first.context.table("List").insert(["id": "bad"])
                try await first.context.table("Item").update(id: "child", ["list": "bad"])
                a = try scenario.restart(first, settings: .singleAttempt, tables: Self.family)
            }
            #expect(try await a.operations().map(\.itemID) == ["child", "bad", "child"])
            scenario.server.onRequest { _ in .refusal(400) }
            #expect(await a.expectPushErrors().map(\.itemID).sorted() == ["bad", "child"])
            #expect(try await a.operations().map(\.itemID) == ["child", "bad"])
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.server.row("child", in: "Item")?.fields["list"] == "bad")
        }
    }

    @Test(arguments: StoreKind.allCases, [1, 4])
    func `children of a refused parent are held, and other rows of their table are pushed`(
        _ kind: StoreKind, _ concurrency: Int
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            var settings = settings(parkAfter: 2)
            settings.maxConcurrentOperations = concurrency
            let a = try scenario.device(settings: settings, tables: Self.family)
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await lists.insert(["id": "bad", "text": "poison"])
            try await lists.insert(["id": "good"])
            try await items.insert(["id": "orphan", "list": "bad"])
            try await items.insert(["id": "child", "list": "good"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison") ? .refusal(400) : .none
            }
            for _ in 0..<3 {
                let errors = await a.expectPushErrors()
                #expect(errors.map(\.itemID) == ["bad", "orphan"])
                #expect(errors.last?.code == .operationHeld)
            }
            #expect(try scenario.server.row("child", in: "Item") != nil)
            #expect(try scenario.server.row("orphan", in: "Item") == nil)
            try await lists.update(id: "bad", ["text": "fine"])
            scenario.server.removeRequests()
            #expect(try await a.context.push().completed == 2)
            #expect(scenario.server.requests.map(\.table) == ["List", "Item"])
            #expect(try await a.context.operationErrors().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases, [PushBudget(operations: 1), nil])
    func `a child that no longer waits is not reported, although this push does not send it`(
        _ kind: StoreKind, _ budget: PushBudget?
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let a = try scenario.device(settings: settings(parkAfter: 5), tables: Self.family)
            try await a.context.table("List").insert(["id": "list", "text": "refused"])
            try await a.context.table("Item").insert(["id": "child", "list": "list"])
            scenario.server.inject(.refusal(400))
            #expect(await a.expectPushErrors().map(\.heldBy) == [nil, 1])
            #expect(try await a.context.status().heldOperations == 1)
            try await a.context.table("List").update(id: "list", ["text": "accepted"])
            if let budget {
                #expect(try await a.context.push(budget: budget).completed == 1)
            } else {
                #expect(try await a.context.push(tables: ["List"]).completed == 1)
            }
            #expect(try await a.context.status().heldOperations == 0)
            #expect(try await a.context.push(tables: ["List"]).completed == 0)
            #expect(try await a.context.push().completed == 1)
            #expect(try scenario.server.row("child", in: "Item") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a child waits for its other parent when the first one is complete, and for none when it is edited`(
        _ kind: StoreKind
    ) async throws {
        let family = [
            SyncTableDefinition(
                "Item", columns: [SyncColumn("list", .text), SyncColumn("owner", .text)], parents: ["List"]),
            SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
        ]
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let a = try scenario.device(settings: settings(parkAfter: 5), tables: family)
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            for id in ["first", "second"] { try await lists.insert(["id": .text(id), "text": "refused"]) }
            try await items.insert(["id": "child", "list": "first", "owner": "second"])
            scenario.server.onRequest { $0.table == "List" ? .refusal(400) : .none }
            _ = await a.expectPushErrors()
            scenario.server.onRequest(nil)
            try await lists.update(id: "first", ["text": "accepted"])
            let errors = await a.expectPushErrors(budget: PushBudget(operations: 1))
            #expect(errors.filter { $0.itemID == "child" }.map(\.heldBy) == [2])
            #expect(try await a.context.status().heldOperations == 1)
            try await items.update(id: "child", ["owner": nil])
            #expect(try await a.context.status().heldOperations == 0)
            #expect(try await a.context.push().completed == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a held child can be changed and discarded, and goes with its parent otherwise`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let a = try scenario.device(settings: settings(parkAfter: 5), tables: Self.family)
            let items = a.context.table("Item")
            try await a.context.table("List").insert(["id": "list"])
            for id in ["changed", "discarded", "kept"] {
                try await items.insert(["id": .text(id), "list": "list"])
            }
            scenario.server.inject(.refusal(400), when: { $0.table == "List" })
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.itemID) == ["list", "changed", "discarded", "kept"])
            try await a.context.keepAndUpdateItem(for: errors[1], with: Item(id: "changed", fields: [:]))
            try await a.context.cancelAndDiscardItem(for: errors[2])
            #expect(try await a.context.push().completed == 3)
            #expect(try scenario.server.rows(in: "Item").map(\.id).sorted() == ["changed", "kept"])
            #expect(try scenario.server.row("changed", in: "Item")?.fields["list"] == nil)
            #expect(try await items.items().map(\.id).sorted() == ["changed", "kept"])
        }
    }

    /// Runs the body with a device that has pushed a list and an item of it.
    private func withFamily(
        on kind: StoreKind,
        _ body: (Scenario, Device, _ lists: SyncTable, _ items: SyncTable) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let a = try scenario.device(settings: settings(parkAfter: 5), tables: Self.family)
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await lists.insert(["id": "list"])
            try await items.insert(["id": "child", "list": "list"])
            try await a.context.push()
            try await body(scenario, a, lists, items)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parent is not deleted before its child whose delete was refused`(_ kind: StoreKind) async throws {
        try await withFamily(on: kind) { scenario, a, lists, items in
            try await lists.delete(id: "list")
            try await items.delete(id: "child")
            scenario.server.inject(.refusal(400), when: { $0.table == "Item" })
            #expect(await a.expectPushErrors().map(\.code) == [.operationHeld, .serverError])
            #expect(try scenario.server.row("list", in: "List")?.deleted == false)
            #expect(try await a.context.push().completed == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a push also reports the operation behind a held one`(_ kind: StoreKind) async throws {
        try await withFamily(on: kind) { scenario, a, lists, items in
            try await lists.delete(id: "list")
            scenario.server.inject(.dropRequest)
            _ = try? await a.context.push()
            try await lists.insert(["id": "list", "text": "new"])
            try await items.delete(id: "child")
            scenario.server.onRequest { $0.table == "Item" ? .refusal(400) : .none }
            for _ in 0..<2 {
                let errors = await a.expectPushErrors()
                #expect(errors.map(\.kind) == [.delete, .insert, .delete])
                #expect(errors.map(\.code) == [.operationHeld, .operationHeld, .serverError])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `discarding a parked delete of a row whose insert got no response keeps the new item`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings())
            try await a.table.insert(["id": "x", "text": "first"])
            scenario.server.inject(.dropAnswer)
            _ = try? await a.context.push()
            try await a.table.update(id: "x", ["text": "second"])
            try await a.table.delete(id: "x")
            try await a.table.insert(["id": "x", "text": "new"])
            scenario.server.inject(.refusal(400), when: { $0.method == "DELETE" })
            _ = try? await a.context.push()
            try await a.pullWithoutPush()
            let errors = try await a.context.operationErrors()
            #expect(errors.map(\.kind) == [.delete])
            try await a.context.cancelAndDiscardItem(for: try #require(errors.first))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
            try await scenario.expectAgreement(a)
        }
    }
}
