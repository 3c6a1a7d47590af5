// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Errors and invalid decisions of delegates and resolvers are recorded on the operation, and do not end the push.
@Suite struct DelegateErrorTests {
    private struct DelegateError: Error, CustomStringConvertible { let description = "delegate error" }

    @Test(arguments: StoreKind.allCases)
    func
        `an error that a delegate throws after execute succeeded is reported, and the operation is completed`(
            _ kind: StoreKind
        )
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            try await operation.execute()
            throw DelegateError()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            #expect(error?.pushResult?.completed == 1)
            #expect(error?.pushResult?.errors.map(\.message) == ["delegate error"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an error that a delegate throws after execute succeeded is reported although the push is cancelled`(
        _ kind: StoreKind
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            try await operation.execute()
            operation.cancelPush()
            begins.send()
            // The cancellation ends the wait.
            try? await ends.wait()
            throw DelegateError()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            let push = Task { try await a.context.push() }
            try await begins.wait()
            push.cancel()
            let error = await expectError(.pushAbortedCancelled) { _ = try await push.value }
            #expect(error?.pushResult?.completed == 1)
            #expect(error?.pushResult?.errors.map(\.message) == ["delegate error"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a second execute after success sends nothing`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            let first = try await operation.execute()
            let second = try await operation.execute()
            #expect(first == second)
            return nil
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            #expect(try await a.context.push().completed == 1)
            #expect(scenario.writes().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a CancellationError thrown by the delegate is recorded on the operation`(
        _ kind: StoreKind, _ executes: Bool
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            if operation.operation.itemID == "y" { return try await operation.execute() }
            if executes { _ = try await operation.execute() }
            throw CancellationError()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            try await a.table.insert(["id": "y"])
            #expect(try await a.expectPushError().itemID == "x")
            #expect(try scenario.row("y") != nil)
            #expect(try await a.operations().count == (executes ? 0 : 1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate that cancels its execution at a time limit does not end the push`(_ kind: StoreKind)
        async throws
    {
        let gate = RequestGate()
        let isLimited = Mutex(true)
        let delegate = ClosureDelegate(perform: { _, operation in
            guard operation.operation.itemID == "x", isLimited.withLock(\.self) else {
                return try await operation.execute()
            }
            let execution = Task { try await operation.execute() }
            await gate.waitForArrivals()
            execution.cancel()
            _ = await execution.result
            throw DelegateError()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x"])
            try await a.table.insert(["id": "y"])
            scenario.server.inject(.hold(gate), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.itemID == "x" && error.message == "delegate error")
            #expect(try scenario.row("y") != nil)
            gate.open()
            isLimited.withLock { $0 = false }
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    /// Returns a device whose update conflicts with the server's row.
    private static func deviceInConflict(_ scenario: Scenario, _ delegate: ClosureDelegate) async throws
        -> Device
    {
        let device = try scenario.device(delegate: delegate)
        try await scenario.server.put("x", ["text": "one"], in: Todo.name)
        try await device.sync()
        try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
        try await device.table.update(id: "x", ["text": "mine"])
        return device
    }

    /// Hides the errors of executions.
    private static let hiding = ClosureDelegate(perform: { _, operation in
        do { return try await operation.execute() } catch { throw DelegateError() }
    })

    @Test(arguments: StoreKind.allCases)
    func `an error that a delegate throws instead of a conflict shows the server's row, and can be decided`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: Self.hiding)
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await scenario.server.remove("y", in: Todo.name, leavingTombstone: false)
            for id in ["x", "y"] { try await a.table.update(id: id, ["text": "mine"]) }
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.message) == ["delegate error", "delegate error"])
            #expect(errors.map(\.code) == [.preconditionFailed, .itemNotOnServer])
            #expect(errors.map { $0.serverItem?["text"] } == ["theirs", nil])
            #expect(try await a.context.operationErrors() == errors)
            try await a.context.keepAndUpdateItem(
                for: try #require(errors.first), with: try #require(errors.first?.item))
            try await a.context.cancelAndDiscardItem(for: try #require(errors.last))
            try await a.context.push()
            #expect(try await a.texts() == ["mine"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict that a delegate decides before it throws stays decided`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { context, operation in
            do { return try await operation.execute() } catch let conflict as TableOperationError {
                if let item = conflict.item { try await context.keepAndUpdateItem(for: conflict, with: item) }
                throw DelegateError()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try await Self.deviceInConflict(scenario, delegate)
            #expect(try await !a.expectPushError().isConflict)
            #expect(try await a.context.status().conflictingOperations == 0)
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["mine"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a service that fails for three operations in a row ends the push, although a delegate hides it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: Self.hiding, settings: .singleAttempt)
            for id in ["1", "2", "3", "4"] { try await a.table.insert(["id": .text(id)]) }
            scenario.server.inject(.refusal(500), .refusal(500), .refusal(500))
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(error?.pushResult?.errors.map(\.status) == [500, 500, 500])
            #expect(scenario.writes().count == 3)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// The conflict is found by a push or by a pull.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `an error or invalid item of a resolver is recorded on the operation, and the push continues`(
        _ kind: StoreKind, _ pulls: Bool
    ) async throws {
        let resolvers: [ConflictResolver] = [
            ConflictResolver { _ in .merge(Item(id: "x", fields: ["nosuch": 1])) },
            ConflictResolver { _ in .merge(Item(id: "other", fields: ["text": "t"])) },
            ConflictResolver { _ in .merge(Item(id: "x", fields: ["price": .double(.nan)])) },
            ConflictResolver { _ in throw DelegateError() },
            ConflictResolver { _ in throw CancellationError() },
        ]
        for resolver in resolvers {
            try await Scenario.run(on: kind) { scenario in
                var settings = SyncSettings()
                settings.resolver = resolver
                let a = try scenario.device(settings: settings)
                try await scenario.server.put("x", ["text": "one"], in: Todo.name)
                try await a.sync()
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
                try await a.table.update(id: "x", ["text": "mine"])
                try await a.table.insert(["id": "y", "text": "other"])
                if pulls {
                    try await a.pullWithoutPush()
                    #expect(try await a.context.operationErrors().map(\.itemID) == ["x"])
                }
                #expect(try await a.expectPushError().itemID == "x")
                #expect(try scenario.row("y") != nil)
                #expect(try await a.item("x")?["text"] == "mine")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row pulled before a delegate refused its insert is stored when the kept insert is discarded`(
        _ kind: StoreKind
    ) async throws {
        let isFirst = Mutex(true)
        let delegate = ClosureDelegate(perform: { _, operation in
            let mustRefuse = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if mustRefuse { throw CancellationError() }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "ours"])
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.pullWithoutPush()
            let refused = try await a.expectPushError()
            #expect(refused.serverItem?["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: refused, with: try #require(refused.item))
            scenario.server.inject(.refusal(400), when: \.isWrite)
            try await a.context.cancelAndDiscardItem(for: try await a.expectPushError())
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert with unknown outcome is deleted on the server after a decision that kept it`(
        _ kind: StoreKind
    ) async throws {
        let count = Mutex(0)
        let delegate = ClosureDelegate(perform: { _, operation in
            let isSecond = count.withLock { count in
                count += 1
                return count == 2
            }
            if isSecond { throw CancellationError() }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.pullWithoutPush()
            let refused = try await a.expectPushError()
            #expect(refused.serverItem?["text"] == "ours")
            try await a.context.keepAndUpdateItem(for: refused, with: try #require(refused.item))
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate can retry an attempt with unknown outcome with the server's version`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError where error.isConflict {
                operation.item?.system = try #require(error.serverItem).system
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate that throws the error of its first execution does not hide that of its second`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let first as TableOperationError {
                operation.item?["text"] = "merged"
                do { return try await operation.execute() } catch { throw first }
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try await Self.deviceInConflict(scenario, delegate)
            scenario.server.inject(.none, .refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.status == 400)
            #expect(try await a.context.operationErrors() == [error])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate corrects replaces the one that it could not send`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["text"] = "wrong"
            operation.item?["nosuch"] = 1
            await #expect(throws: SyncError.self) { try await operation.execute() }
            operation.item?["nosuch"] = nil
            operation.item?["text"] = "right"
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "right")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a value that is converted when a delegate sets it is no edit of the user`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["price"] = 5
            do { return try await operation.execute() } catch is TableOperationError {
                operation.item?["price"] = 6
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(400))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["price"]?.doubleValue == 6)
        }
    }
}
