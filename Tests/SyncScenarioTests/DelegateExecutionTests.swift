// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// An operation is sent by one execution at a time, and by none after the push has gone on.
@Suite struct DelegateExecutionTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func `a push waits for an execution for which the delegate does not wait`(
        _ kind: StoreKind, _ isCancelled: Bool
    ) async throws {
        let gate = RequestGate()
        let delegate = ClosureDelegate(perform: { _, operation in
            Task { try await operation.execute() }
            await gate.waitForArrivals()
            return nil
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            scenario.server.inject(.hold(gate), when: \.isWrite)
            let push = Task { try await a.context.push() }
            await gate.waitForArrivals()
            if isCancelled { push.cancel() }
            gate.open()
            let result = await push.result
            if !isCancelled { #expect(try result.get().completed == 1) }
            #expect(try await a.context.pendingOperationCount() == 0)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that the delegate returns with the end of the push is no result`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.cancelPush()
            return operation.item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            await expectError(.pushAbortedCancelled) { try await a.context.push() }
            #expect(try await a.operations().map(\.itemID) == ["x"])
        }
    }

    @Test(arguments: [ServerFault.dropRequest, .refusal(401), .refusal(503)])
    func `an item that the delegate returns after an execution without a result is none`(_ fault: ServerFault)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            _ = try? await operation.execute()
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x"])
            scenario.server.inject(fault)
            await #expect(throws: SyncError.self) { try await a.context.push() }
            #expect(try await a.operations().map(\.itemID) == ["x"])
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `an item that the delegate returns for a held operation is no result`() async throws {
        let list = SyncTableDefinition("List", columns: [SyncColumn("text", .text)])
        let item = SyncTableDefinition("Item", columns: [SyncColumn("list", .text)], parents: ["List"])
        let delegate = ClosureDelegate(perform: { _, operation in
            let item = operation.item
            _ = try? await operation.execute()
            return operation.operation.table == "Item" ? item : nil
        })
        try await Scenario.run(on: .memory) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt, tables: [list, item])
            try await a.context.table("List").insert(["id": "l"])
            try await a.context.table("Item").insert(["id": "i", "list": "l"])
            scenario.server.inject(.refusal(400))
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.code) == [.serverError, .operationHeld])
            #expect(try await a.operations().map(\.itemID) == ["l", "i"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `executions of an operation at the same time send it once`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            async let first = operation.execute()
            async let second = operation.execute()
            let items = try await [first, second]
            #expect(items[0] == items[1])
            return items[0]
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            #expect(try await a.context.push().completed == 1)
            #expect(scenario.writes().count == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate's change of the result is stored beside an edit made during the execution`(
        _ kind: StoreKind
    ) async throws {
        let gate = RequestGate()
        let delegate = ClosureDelegate(perform: { _, operation in
            var item = try await operation.execute()
            if item?["priority"] == 1 { item?["priority"] = 7 }
            return item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            scenario.server.inject(.hold(gate), when: \.isWrite)
            let push = Task { try await a.context.push(budget: PushBudget(operations: 1)) }
            await gate.waitForArrivals()
            try await a.table.update(id: "x", ["text": "two"])
            gate.open()
            _ = try await push.value
            #expect(try await a.item("x")?["text"] == "two")
            #expect(try await a.item("x")?["priority"] == 7)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "two")
            #expect(try scenario.row("x")?.fields["priority"] == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a later row that a delegate returns beside an edit is a conflict`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let delegate = ClosureDelegate(perform: { _, operation in
                var item = try await operation.execute()
                guard operation.operation.kind == .insert else { return item }
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
                let row = try #require(try scenario.row("x"))
                item?.fields["text"] = "theirs"
                item?.system = SystemProperties(
                    createdAt: row.createdAt, updatedAt: row.updatedAt, version: row.version)
                return item
            })
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            _ = try await scenario.push(a, budget: PushBudget(operations: 1)) { _ in
                try await a.table.update(id: "x", ["text": "ours"])
            }
            let edit = try #require(try await a.operations().first)
            #expect(edit.base?["text"] == "one")
            #expect(edit.serverItem?["text"] == "theirs")
            #expect(try await a.item("x")?["text"] == "ours")
            #expect(try await a.expectPushError().isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the item of a delegate beside an edit keeps local-only columns that it lacks`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            var item = try await operation.execute()
            item?.fields["note"] = nil
            item?["priority"] = 7
            return item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one", "note": "mine"])
            _ = try await scenario.push(a, budget: PushBudget(operations: 1)) { _ in
                try await a.table.update(id: "x", ["text": "two"])
            }
            #expect(try await a.item("x")?["note"] == "mine")
            #expect(try await a.item("x")?["priority"] == 7)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation is not executed after the delegate has returned`(_ kind: StoreKind) async throws {
        let kept = Mutex<[PushOperation]>([])
        let delegate = ClosureDelegate(perform: { _, operation in
            kept.withLock { $0.append(operation) }
            return nil
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            try await a.context.push()
            let operations = kept.withLock { $0 }
            let operation = try #require(operations.first)
            await expectError(.invalidOperation) { try await operation.execute() }
            #expect(scenario.writes().isEmpty)
            #expect(try await a.context.pendingOperationCount() == 1)
        }
    }

    @Test
    func `an item that the delegate returns although the push was cancelled before the execution is none`()
        async throws
    {
        let begun = TestSignal()
        let untilCancelled = AsyncStream<Void> { _ in }
        let delegate = ClosureDelegate(perform: { _, operation in
            begun.send()
            for await _ in untilCancelled {}
            _ = try? await operation.execute()
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x"])
            let push = Task { try await a.context.push() }
            try await begun.wait()
            push.cancel()
            await #expect(throws: CancellationError.self) { try await push.value }
            #expect(try await a.operations().map(\.itemID) == ["x"])
            #expect(try scenario.row("x") == nil)
        }
    }
}
