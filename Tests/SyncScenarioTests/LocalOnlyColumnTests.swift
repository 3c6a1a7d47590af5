// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// A column that became local-only is not sent, also not from operations and snapshots stored before.
@Suite struct LocalOnlyColumnTests {
    private static func definition(isLocalOnly: Bool) -> SyncTableDefinition {
        SyncTableDefinition(
            Todo.name,
            columns: [Todo.text, Todo.priority, SyncColumn("price", .double, isLocalOnly: isLocalOnly)])
    }

    /// Opens the device's store with the table definition of the older or of the newer app.
    private func device(_ scenario: Scenario, isLocalOnly: Bool) throws -> Device {
        try scenario.device(settings: .singleAttempt, tables: [Self.definition(isLocalOnly: isLocalOnly)])
    }

    /// Pushes with that fault at the server, and closes the context.
    private func pushWithFault(_ fault: ServerFault, _ scenario: Scenario, _ device: Device) async throws {
        scenario.server.inject(fault, when: \.isWrite)
        await expectError(.pushAbortedNetwork) { try await device.context.push() }
        try await device.context.close()
        scenario.server.removeRequests()
    }

    private func expectColumnNotSent(_ scenario: Scenario) throws {
        for request in scenario.writes() where !request.body.isEmpty {
            guard case .object(let fields) = try ItemValue(json: request.body) else {
                Issue.record("The body of a write is not an object")
                continue
            }
            #expect(fields["price"] == nil, "\(fields)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of a local-only column is stored, and is no change of the row`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            let device = try device(scenario, isLocalOnly: true)
            try await device.sync()
            try await device.table.update(id: "x", ["price": 1.5])
            #expect(try await device.operations().isEmpty)
            try await device.table.update(id: "x", ["text": "two", "price": 2.5])
            let operations = try await device.operations()
            try await device.table.update(id: "x", ["price": 3])
            #expect(try await device.operations() == operations)

            // A decision with the former value would replace the new one.
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await device.expectPushError()
            let item = try #require(error.item)
            try await device.table.update(id: "x", ["price": 3.5])
            await expectError(.operationChanged) {
                try await device.context.keepAndUpdateItem(for: error, with: item)
            }
            try await device.context.push()
            #expect(try await device.item("x")?.fields == ["text": "two", "price": 3.5])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of a local-only column is kept that is made while the resolver of a pull decides`(
        _ kind: StoreKind
    ) async throws {
        let edited = Mutex<SyncTable?>(nil)
        let resolver = ConflictResolver { conflict in
            let table = edited.withLock { $0.take() }
            try await table?.update(id: "x", ["price": 2.5])
            return .merge(try #require(conflict.clientItem))
        }
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            let device = try scenario.device(
                settings: .resolving(resolver), tables: [Self.definition(isLocalOnly: true)])
            try await device.sync()
            try await device.table.update(id: "x", ["text": "mine", "price": 1.5])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            edited.withLock { $0 = device.table }
            try await device.pullWithoutPush()
            #expect(try await device.item("x")?.fields == ["text": "mine", "price": 2.5])
        }
    }

    @Test(arguments: StoreKind.persistent, [true, false])
    func `an insert is retried without a column that became local-only`(_ kind: StoreKind, _ wasApplied: Bool)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let old = try device(scenario, isLocalOnly: false)
            try await old.table.insert(["id": "x", "text": "one", "price": 1.5])
            try await pushWithFault(wasApplied ? .dropAnswer : .dropRequest, scenario, old)
            let new = try device(scenario, isLocalOnly: true)
            try await new.table.update(id: "x", ["price": 2.5])
            try await new.context.push()
            // If the first attempt was applied, the row shows it.
            #expect(scenario.writes().isEmpty == wasApplied)
            try expectColumnNotSent(scenario)
            #expect(try await new.item("x")?.fields == ["text": "one", "price": 2.5])
            #expect(try await new.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent, [true, false])
    func `an update is retried without a column that became local-only, and other edits are sent`(
        _ kind: StoreKind, _ wasApplied: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let old = try device(scenario, isLocalOnly: false)
            try await old.table.insert(["id": "x", "text": "one", "price": 0.5])
            try await old.context.push()
            try await old.table.update(id: "x", ["text": "two", "price": 1.5])
            try await pushWithFault(wasApplied ? .dropAnswer : .dropRequest, scenario, old)
            let new = try device(scenario, isLocalOnly: true)
            try await new.table.update(id: "x", ["priority": 3, "price": 2.5])
            try await new.context.push()
            try expectColumnNotSent(scenario)
            #expect(try scenario.row("x")?.fields["text"] == "two")
            #expect(try scenario.row("x")?.fields["priority"] == 3)
            #expect(try await new.item("x")?.fields == ["text": "two", "priority": 3, "price": 2.5])
            #expect(try await new.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an attempt that sent only a column that became local-only proves no other update`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let old = try device(scenario, isLocalOnly: false)
            try await old.table.insert(["id": "x", "text": "one", "price": 0.5])
            try await old.context.push()
            try await old.table.update(id: "x", ["price": 1.5])
            try await pushWithFault(.dropRequest, scenario, old)
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let new = try device(scenario, isLocalOnly: true)
            try await new.table.update(id: "x", ["text": "mine"])
            #expect(try await new.expectPushError().isConflict)
            try expectColumnNotSent(scenario)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.persistent, [true, false])
    func `discarding a change keeps the local value of a column that became local-only`(
        _ kind: StoreKind, _ isConflict: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let old = try device(scenario, isLocalOnly: false)
            try await old.table.insert(["id": "x", "text": "one", "price": 0.5])
            try await old.context.push()
            try await old.table.update(id: "x", ["text": "two"])
            if isConflict { try await scenario.server.update("x", ["text": "theirs"], in: Todo.name) }
            if !isConflict { scenario.server.inject(.refusal(400), when: \.isWrite) }
            _ = try await old.expectPushError()
            try await old.context.close()
            let new = try device(scenario, isLocalOnly: true)
            try await new.table.update(id: "x", ["price": 2.5])
            if !isConflict { scenario.server.inject(.refusal(400), when: \.isWrite) }
            let error = try await new.expectPushError()
            try await new.context.cancelAndDiscardItem(for: error)
            #expect(
                try await new.item("x")?.fields == ["text": isConflict ? "theirs" : "one", "price": 2.5])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row restored while its deletion is reported keeps the local-only columns`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let transport = HeldResponseTransport()
            let a = try scenario.device(settings: .resolving(.serverWins), transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "two", "note": "mine"])
            transport.holdNext(.patch)
            async let push: Void = { try await a.context.push() }()
            try await transport.waitForResponse()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.context.pull(Todo.query, settings: .withoutPush)
            transport.release()
            try await push
            #expect(try await a.item("x")?.fields == ["text": "theirs", "note": "mine"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate makes of the server's row keeps the local-only columns`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                guard var row = error.serverItem else { throw error }
                row["priority"] = 3
                operation.item = row
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["priority": 2, "note": "mine"])
            try await a.context.push()
            let item = try await a.item("x")
            #expect(item?["text"] == "theirs" && item?["priority"] == 3)
            #expect(item?["note"] == "mine")
            try await scenario.expectAgreement(a)
        }
    }
}
