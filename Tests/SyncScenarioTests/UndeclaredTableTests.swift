// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Operations of tables that the app no longer declares.
@Suite struct UndeclaredTableTests {
    @Test(arguments: StoreKind.persistent)
    func
        `an operation of an undeclared table is reported, fails no other table, and can be discarded`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let old = SyncTableDefinition("Old", columns: [SyncColumn("text", .text)])
            let before = try scenario.device(tables: [Todo.definition, old])
            try await before.context.table("Old").insert(["id": "o", "text": "undeclared"])
            try await before.context.close()
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            #expect(try await a.context.plannedRequests().map(\.itemID) == ["x"])
            let result = try await a.context.push()
            #expect(result.completed == 1)
            #expect(result.errors.map(\.code) == [.unknownTable])
            try await a.context.pull(Todo.query, queryID: "all")
            #expect(try await a.context.status().heldOperations == 1)
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.operations().isEmpty)
            #expect(try await a.context.operationErrors().isEmpty)
            #expect(try await a.context.push().errors.isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func
        `the item of an operation discarded while its table was undeclared is gone when it is declared again`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let old = SyncTableDefinition("Old", columns: [SyncColumn("text", .text)])
            let before = try scenario.device(tables: [Todo.definition, old])
            // The combining mark would join a character before it.
            let discarded = "\u{301}discarded"
            for id in [discarded, "kept"] {
                try await before.context.table("Old").insert(["id": .text(id)])
            }
            try await before.context.close()
            let a = try scenario.device()
            _ = try await a.context.push()
            let errors = try await a.context.operationErrors()
            let error = try #require(errors.first { $0.itemID == discarded })
            try await a.context.cancelAndDiscardItem(for: error)
            try await a.context.close()
            let after = try scenario.device(tables: [Todo.definition, old])
            #expect(try await after.context.table("Old").items().map(\.id) == ["kept"])
            #expect(try await after.operations().map(\.itemID) == ["kept"])
            // The item is removed once: another one of its id stays.
            try await after.context.table("Old").insert(["id": .text(discarded)])
            try await after.context.close()
            let last = try scenario.device(tables: [Todo.definition, old])
            #expect(try await last.context.table("Old").items().count == 2)
        }
    }

    /// Ends the process while it sends an insert, after a change of the item, and starts it again without the table.
    private func restart(
        _ scenario: Scenario, after change: (SyncTable) async throws -> Void
    ) async throws -> Device {
        let old = SyncTableDefinition("Old", columns: [SyncColumn("text", .text)])
        let first = try scenario.crashableDevice(
            settings: .singleAttempt, tables: [Todo.definition, old])
        let table = first.context.table("Old")
        try await table.insert(["id": "o", "text": "one"])
        var restarted = first
        _ = try await scenario.push(first, then: .dropRequest) { _ in
            try await change(table)
            restarted = try scenario.restart(first, settings: .singleAttempt)
        }
        return restarted
    }

    @Test(arguments: StoreKind.persistent)
    func `discarding an operation of an undeclared table discards the edit that a crash has left behind it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables.append(.init("Old")) }) { scenario in
            let a = try await restart(scenario) { try await $0.update(id: "o", ["text": "two"]) }
            #expect(try await a.operations().count == 2)
            let error = try #require(try await a.context.push().errors.first)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a delete behind an operation of an undeclared table is not discarded without it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables.append(.init("Old")) }) { scenario in
            let a = try await restart(scenario) { try await $0.delete(id: "o") }
            let errors = try await a.context.push().errors
            #expect(errors.map(\.code) == [.unknownTable, .operationHeld])
            #expect(try await a.context.operationErrors().count == 1)
            #expect(try await a.context.status().heldOperations == 2)
            await expectError(.invalidOperation) { try await a.context.cancelAndDiscardItem(for: errors[1]) }
            #expect(try await a.operations().map(\.kind) == [.insert, .delete])
            try await a.context.cancelAndDiscardItem(for: errors[0])
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `operations of an undeclared table do not count towards the budget`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables.append(.init("Old")) }) { scenario in
            let a = try await restart(scenario) { try await $0.delete(id: "o") }
            try await a.table.insert(["id": "x", "text": "one"])
            let result = try await a.context.push(budget: PushBudget(operations: 1))
            #expect(result.errors.map(\.code) == [.unknownTable, .operationHeld])
            #expect(result.completed == 1)
            #expect(try scenario.serverTexts() == ["one"])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a held operation that was edited before its table was undeclared is reported`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let old = SyncTableDefinition(
                "Old", columns: [SyncColumn("text", .text), SyncColumn("todo", .text)], parents: [Todo.name])
            let before = try scenario.device(tables: [Todo.definition, old])
            try await before.table.insert(["id": "x", "text": "refused"])
            try await before.context.table("Old").insert(["id": "o", "todo": "x"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            await expectError(.pushCompletedWithErrors) { try await before.context.push() }
            let held = try await before.context.operationErrors().first { $0.code == .operationHeld }
            #expect(held?.itemID == "o")
            try await before.context.table("Old").update(id: "o", ["text": "edited"])
            try await before.context.close()
            // Its error is still the earlier one.
            let a = try scenario.device()
            #expect(try await a.context.status().heldOperations == 1)
            #expect(try await a.context.push().errors.map(\.itemID) == ["o"])
        }
    }
}
