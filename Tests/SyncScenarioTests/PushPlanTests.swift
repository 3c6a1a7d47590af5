// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Order, concurrency and budget of a push, and its plan.
@Suite struct PushPlanTests {
    private static let tables = [
        SyncTableDefinition(
            "Item", columns: [SyncColumn("text", .text), SyncColumn("list", .text)], parents: ["List"]),
        SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
    ]

    /// Runs the body with tables of parents and children.
    private func run(
        on kind: StoreKind, concurrency: Int = 1, settings: SyncSettings = SyncSettings(),
        _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        var settings = settings
        settings.maxConcurrentOperations = concurrency
        try await Scenario.run(on: kind) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            try await body(
                scenario,
                try scenario.device("A", settings: settings, tables: Self.tables + [Todo.definition]))
        }
    }

    @Test(arguments: StoreKind.allCases, [1, 4])
    func `parents are sent before their children and deleted after them`(
        _ kind: StoreKind, _ concurrency: Int
    ) async throws {
        try await run(on: kind, concurrency: concurrency) { scenario, device in
            let (lists, items) = (device.context.table("List"), device.context.table("Item"))
            try await items.insert(["id": "milk", "text": "Milk"])
            try await device.context.push()
            // The child is queued first, and then refers to a list inserted later.
            try await items.update(id: "milk", ["text": "Oat milk"])
            try await lists.insert(["id": "food"])
            try await items.update(id: "milk", ["list": "food"])
            try await items.insert(["id": "eggs", "list": "food"])
            scenario.server.removeRequests()
            try await device.context.push()
            #expect(scenario.server.requests.first?.table == "List")
            #expect(scenario.server.requests.count == 3)

            try await lists.delete(id: "food")
            try await items.delete(id: "eggs")
            scenario.server.removeRequests()
            try await device.context.push()
            #expect(scenario.server.requests.map(\.table) == ["Item", "List"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parent is deleted only after the update that moves its child away`(_ kind: StoreKind) async throws
    {
        try await run(on: kind) { scenario, device in
            let (lists, items) = (device.context.table("List"), device.context.table("Item"))
            try await lists.insert(["id": "food"])
            try await lists.insert(["id": "drinks"])
            try await items.insert(["id": "milk", "list": "food"])
            try await device.context.push()
            try await items.update(id: "milk", ["list": "drinks"])
            try await lists.delete(id: "food")
            scenario.server.inject(.refusal(400), when: { $0.table == "Item" })
            scenario.server.removeRequests()
            let codes = await device.pushErrors().map(\.code)
            #expect(codes == [.serverError, .operationHeld])
            #expect(scenario.server.requests.map(\.table) == ["Item"])

            scenario.server.removeRequests()
            try await device.context.push()
            #expect(scenario.server.requests.map(\.table) == ["Item", "List"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parent is deleted only after a child that was moved away and deleted`(_ kind: StoreKind)
        async throws
    {
        try await run(on: kind) { scenario, device in
            let (lists, items) = (device.context.table("List"), device.context.table("Item"))
            for id in ["food", "drinks"] { try await lists.insert(["id": .text(id)]) }
            try await items.insert(["id": "milk", "list": "food"])
            try await device.context.push()
            try await items.update(id: "milk", ["list": "drinks"])
            try await items.delete(id: "milk")
            try await lists.delete(id: "food")
            scenario.server.inject(.refusal(400), when: { $0.table == "Item" })
            scenario.server.removeRequests()
            let codes = await device.pushErrors().map(\.code)
            #expect(codes == [.serverError, .operationHeld])
            #expect(scenario.server.requests.map(\.table) == ["Item"])

            try await device.context.push()
            #expect(try scenario.server.row("food", in: "List")?.deleted ?? true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert that becomes a delete while it is sent is deleted after its child`(_ kind: StoreKind)
        async throws
    {
        var settings = SyncSettings.singleAttempt
        settings.resolver = .clientWins
        try await run(on: kind, settings: settings) { scenario, device in
            let (lists, items) = (device.context.table("List"), device.context.table("Item"))
            try await lists.insert(["id": "food", "text": "ours"])
            await device.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("food", ["text": "theirs"], in: "List")
            // The device does not know that the child's row has a parent.
            try await scenario.server.put("milk", ["list": "food"], in: "Item")
            try device.store.write { try $0.upsert([Item(id: "milk")], in: "Item") }
            try await device.context.enqueueExisting(TableQuery("Item"))
            try await items.delete(id: "milk")
            scenario.server.removeRequests()
            let result = try await scenario.push(device) { _ in try await lists.delete(id: "food") }.get()
            #expect(
                scenario.writes().map { "\($0.method) \($0.table ?? "")" } == [
                    "POST List", "DELETE Item", "DELETE List",
                ])
            #expect(result.completed == 2)
            #expect(try await device.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a plan of an unknown table is an error, as its push is`(_ kind: StoreKind) async throws {
        try await run(on: kind) { _, device in
            await expectError(.unknownTable) {
                _ = try await device.context.plannedRequests(tables: ["None"])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `several operations are in flight at once, but one for each item`(_ kind: StoreKind) async throws {
        try await run(on: kind, concurrency: 4) { scenario, device in
            let gate = RequestGate()
            scenario.server.inject(
                .hold(gate), .hold(gate), .hold(gate), .hold(gate), when: { $0.method == "POST" })
            for index in 0..<6 {
                try await device.table.insert(["id": .text("item-\(index)"), "text": "new"])
            }
            async let result = device.context.push()
            await gate.waitForArrivals(4)
            #expect(scenario.server.requests.count == 4)
            try await device.table.update(id: "item-0", ["text": "edited in flight"])
            gate.open()
            let completed = try await result.completed
            #expect(completed == 7)
            #expect(try await device.operations().isEmpty)
            #expect(try scenario.server.row("item-0", in: Todo.name)?.fields["text"] == "edited in flight")
            let requests = scenario.server.requests.filter {
                $0.path.contains("item-0") || $0.method == "POST"
            }
            #expect(requests.filter { $0.method == "PATCH" }.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a push with a budget sends a part of the queue`(_ kind: StoreKind) async throws {
        try await run(on: kind) { scenario, device in
            for index in 0..<5 { try await device.table.insert(["text": .text("\(index)")]) }
            #expect(try await device.context.push(budget: PushBudget(operations: 2)).completed == 2)
            #expect(try await device.operations().count == 3)
            #expect(try await device.context.push(budget: PushBudget(duration: .zero)).completed == 0)
            #expect(try await device.context.push(tables: ["List"]).completed == 0)
            #expect(try await device.context.push(tables: [Todo.name]).completed == 3)
            #expect(try scenario.serverTexts() == ["0", "1", "2", "3", "4"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the plan has operations that have failed before last, as the push`(_ kind: StoreKind) async throws {
        try await run(on: kind) { scenario, device in
            for id in ["x", "y", "z"] { try await device.table.insert(["id": .text(id), "text": "new"]) }
            for _ in 0..<3 { scenario.server.inject(.refusal(400), when: \.isWrite) }
            _ = await device.pushErrors()
            try await device.table.insert(["id": "last", "text": "new"])
            let plan = try await device.context.plannedRequests()
            #expect(plan.map(\.itemID) == ["last", "x", "y", "z"])
            scenario.server.removeRequests()
            try await device.context.push()
            let bodies = try scenario.server.requests.map { try ItemValue(json: $0.body) }
            #expect(bodies == plan.map { .object($0.fields.merging(["id": .text($0.itemID)]) { $1 }) })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `plannedRequests lists the requests of the next push and sends none`(_ kind: StoreKind) async throws
    {
        try await run(on: kind) { scenario, device in
            let old = try await device.table.insert(["text": "old", "priority": 1])
            try await device.context.push()
            try await device.table.update(id: old.id, ["text": "new"])
            try await device.table.insert(["id": "fresh", "text": "fresh", "note": "local"])
            scenario.server.removeRequests()
            let plan = try await device.context.plannedRequests()
            #expect(scenario.server.requests.isEmpty)
            #expect(plan.map(\.kind) == [.update, .insert])
            #expect(plan.map(\.fields) == [["text": "new"], ["text": "fresh"]])
            #expect(plan[0].version != nil)
            try await device.context.push()
            #expect(scenario.server.requests.map(\.method) == ["PATCH", "POST"])
            let bodies = try scenario.server.requests.map { try ItemValue(json: $0.body) }
            #expect(bodies[1] == ["id": "fresh", "text": "fresh"])
        }
    }
}
