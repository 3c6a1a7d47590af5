// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// What the user, the app or a pull changes during a delegate's callback is not taken back by the delegate's item.
@Suite struct DelegateCallbackTests {
    @Test(arguments: StoreKind.allCases)
    func `a row pulled while a delegate ran is not forgotten when the item was inserted again`(
        _ kind: StoreKind
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            begins.send()
            try await ends.wait()
            return operation.item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await a.table.delete(id: "x")
            let push = Task { try await a.context.push() }
            try await begins.wait()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            try await a.pullWithoutPush()
            ends.finish()
            _ = await push.result
            let operation = try #require(try await a.operations().first)
            #expect(operation.serverItem?["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item set by a delegate does not restore an item that the app has deleted in its database`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let store = try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
            let delegate = ClosureDelegate(perform: { _, operation in
                guard operation.operation.kind == .update else { return try await operation.execute() }
                _ = try store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
                operation.item?["priority"] = 7
                return try await operation.execute()
            })
            let a = scenario.device(on: store, delegate: delegate)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            let item = try await a.table.update(id: "x", ["text": "two"])
            try await #expect(a.expectPushError().code == .expectedItem)
            #expect(try await a.item("x") == nil)
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    /// The resolver sends the edit before the delegate executes the operation again.
    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate sends again does not undo an edit made while it was sent first`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["complete"] = true
            do { return try await operation.execute() } catch is TableOperationError {
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = .clientWins
            let a = try scenario.device(delegate: delegate, settings: settings)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["priority": 2], in: Todo.name)
            try await a.table.update(id: "x", ["priority": 3])
            _ = try await scenario.push(a) { _ in
                scenario.server.inject(.refusal(400), when: \.isWrite)
                try await a.table.update(id: "x", ["text": "edited"])
            }.get()
            let fields: [String: ItemValue] = ["text": "edited", "priority": 3, "complete": true]
            #expect(try scenario.row("x")?.fields == fields)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns does not replace a row pulled during the callback`(
        _ kind: StoreKind
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            begins.send()
            try await ends.wait()
            return operation.item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "ours"])
            let push = Task { try await a.context.push() }
            try await begins.wait()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.pullWithoutPush()
            ends.send()
            _ = try await push.value
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [true, false])
    func `a changed item that a delegate returns after its operation is complete replaces no later row`(
        _ isRemoved: Bool
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            var item = try await operation.execute()
            begins.send()
            try await ends.wait()
            item?["priority"] = 7
            return item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "ours"])
            let push = Task { try await a.context.push() }
            try await begins.wait()
            scenario.server.clock.advance(by: .seconds(5))
            if isRemoved {
                try await scenario.server.remove("x", in: Todo.name)
            } else {
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            }
            try await a.pullWithoutPush()
            ends.send()
            _ = try await push.value
            #expect(try await a.texts() == (isRemoved ? [] : ["theirs"]))
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a task that a delegate has started can push after the push of the delegate`() async throws {
        let begins = TestSignal()
        let task = Mutex<Task<PushResult, any Error>?>(nil)
        let delegate = ClosureDelegate(perform: { context, operation in
            task.withLock { task in
                if task == nil {
                    task = Task {
                        try await begins.wait()
                        return try await context.push()
                    }
                }
            }
            return try await operation.execute()
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.insert(["id": "y", "text": "two"])
            begins.send()
            #expect(try await task.withLock(\.self)?.value.completed == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns does not restore one that was inserted again and deleted meanwhile`(
        _ kind: StoreKind
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let error as TableOperationError {
                begins.send()
                try await ends.wait()
                return error.serverItem
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.delete(id: "x")
            let push = Task { try await a.context.push() }
            try await begins.wait()
            try await a.table.insert(["id": "x", "text": "again"])
            try await a.table.delete(id: "x")
            ends.send()
            _ = try await push.value
            #expect(try await a.texts().isEmpty)
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page requested before the delegate read the row does not replace the row it returned`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let delegate = ClosureDelegate(perform: { context, operation in
                try await context.client.table(Todo.name).read(id: "x")
            })
            let transport = HeldResponseTransport()
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt, transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "mine"])
            transport.holdNext()
            let pull = Task { try await a.context.pull(Todo.query, settings: .withoutPush) }
            try await transport.waitForResponse()
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            try await a.context.push()
            #expect(try await a.texts() == ["two"])
            transport.release()
            _ = try await pull.value
            #expect(try await a.texts() == ["two"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that a delegate returns does not hide the state of the row that the server has`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            // Its `updatedAt` is later than that of the server's row, as after a step of the server's clock.
            let delegate = ClosureDelegate(perform: { _, operation in
                Item(
                    id: "x", fields: ["text": "one"],
                    system: SystemProperties(updatedAt: Timestamp("9999-01-01T00:00:00.000Z"), version: "old")
                )
            })
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "two"], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await a.table.update(id: "x", ["text": "mine"])
            try await a.context.push()
            #expect(try await a.texts() == ["one"])
            try await a.context.pull(Todo.query)
            #expect(try await a.texts() == ["two"])
        }
    }

    /// The operation was an insert, or an update of an older row, when the callback began. Nothing of it is sent.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `an item set by a delegate keeps the version of a row that a resolver stored during the callback`(
        _ kind: StoreKind, _ updates: Bool
    ) async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        let delegate = ClosureDelegate(perform: { _, operation in
            begins.send()
            try await ends.wait()
            operation.item?["text"] = "theirs"
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = ConflictResolver { $0.serverItem.map { .merge($0) } ?? .keepPending }
            let a = try scenario.device(delegate: delegate, settings: settings)
            if updates {
                try await scenario.server.put("x", ["text": "one"], in: Todo.name)
                try await a.sync()
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
                try await a.table.update(id: "x", ["text": "mine"])
            } else {
                try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
                try await a.table.insert(["id": "x", "text": "mine"])
            }
            let push = Task { try await a.context.push() }
            try await begins.wait()
            try await a.pullWithoutPush()
            ends.send()
            _ = try await push.value
            #expect(scenario.writes().isEmpty)
            #expect(try await a.operations().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a column that a delegate's result lacks has the server's value`(
        _ kind: StoreKind, _ isEditedMeanwhile: Bool
    ) async throws {
        let edit = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let delegate = ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                try await edit.withLock(\.self)?()
                let row = try #require(error.serverItem)
                return Item(id: row.id, fields: ["text": row["text"] ?? .null], system: row.system)
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "ours", "priority": 2, "complete": true])
            if isEditedMeanwhile {
                edit.withLock { $0 = { try await a.table.update(id: "x", ["priority": 3]) } }
            }
            try await a.context.push()
            let item = try #require(try await a.item("x"))
            #expect(item["text"] == "theirs")
            #expect(item["complete"] != true)
            #expect(item["priority"] == (isEditedMeanwhile ? 3 : 1))
            edit.withLock { $0 = nil }
            try await a.sync()
            #expect(try scenario.row("x")?.fields["priority"] == item["priority"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a field that the delegate removes stays removed when the user edits another one meanwhile`()
        async throws
    {
        let delegate = ClosureDelegate(perform: { context, operation in
            operation.item?["price"] = nil
            try await context.table(Todo.name).update(id: "x", ["priority": 2])
            return try await operation.execute()
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one", "price": 1.5])
            _ = await a.pushErrors()
            let bodies = scenario.writes().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(!bodies.isEmpty && bodies.allSatisfy { !$0.contains("price") })
            #expect(try scenario.row("x")?.fields["text"] == "one")
        }
    }
}
