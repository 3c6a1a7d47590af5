// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// What a delegate can do with each operation.
@Suite struct DelegateTests {
    /// Runs the body with a device whose pending update conflicts with the server.
    private func conflict(
        on kind: StoreKind, _ delegate: ClosureDelegate, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["priority": 2])
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a push or pull started by a delegate during a push is refused`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { context, operation in
            await expectError(.invalidOperation) { try await context.push() }
            await expectError(.invalidOperation) { try await context.pull(Todo.query) }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "a"])
            #expect(try await a.context.push().completed == 1)
            #expect(try await a.context.push().completed == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate receives every operation in queue order and the result once`(
        _ kind: StoreKind
    ) async throws {
        let seen = Mutex<[String]>([])
        let delegate = ClosureDelegate(
            perform: { _, operation in
                seen.withLock { $0.append(operation.operation.itemID) }
                return try await operation.execute()
            },
            complete: { _, result in seen.withLock { $0.append("done \(result.completed)") } })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            for id in ["c", "a", "b"] { try await a.table.insert(["id": .text(id)]) }
            try await a.context.push()
            #expect(seen.withLock { $0 } == ["c", "a", "b", "done 3"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item changed by the delegate is sent and stored`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["text"] = "edited"
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "edited")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate can retry with the server's version, and the whole item is sent`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate.retryingWithServerVersion
        try await conflict(on: kind, delegate) { scenario, a in
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "one", "priority": 2])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the item of an insert gets no version from a delegate`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate.retryingWithServerVersion
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            #expect(try await a.expectPushError().code == .itemAlreadyOnServer)
            #expect(try await a.item("x")?.system == SystemProperties())
            try await a.table.delete(id: "x")
            #expect(try await a.operations().isEmpty)
            try await a.sync()
            #expect(try await a.texts() == ["theirs"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns after a conflict is stored`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                return error.serverItem
            }
        })
        try await conflict(on: kind, delegate) { scenario, a in
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "theirs")
            #expect(try await a.item("x")?["priority"] == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns for a failed delete restores the item and removes the operation`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                return error.serverItem
            }
        })
        try await conflict(on: kind, delegate) { scenario, a in
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "theirs")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == false)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate receives an insert after the delete of the same item is complete`(
        _ kind: StoreKind
    ) async throws {
        let seen = Mutex<[TableOperation.Kind]>([])
        let delegate = ClosureDelegate(perform: { _, operation in
            let kind = operation.operation.kind
            seen.withLock { $0.append(kind) }
            return kind == .insert ? operation.item : try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            scenario.server.inject(.dropAnswer, .refusal(400), when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.insert(["id": "x", "text": "new"])
            #expect(try await a.operations().map(\.kind) == [.delete, .insert])
            seen.withLock { $0 = [] }
            try await a.context.push()
            #expect(seen.withLock { $0 } == [.delete, .insert])
            #expect(try await a.operations().isEmpty)
            #expect(try await a.item("x")?["text"] == "new")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an invalid item returned by a delegate is not stored`(_ kind: StoreKind) async throws {
        let items = [
            Item(id: "y", fields: ["text": "other id"]), Item(id: "x", fields: ["nosuch": 1]),
            Item(id: "x", fields: ["price": .double(.nan)]), Item(id: "x", fields: ["text": 5]),
        ]
        for item in items {
            for executes in [true, false] {
                let delegate = ClosureDelegate(perform: { _, operation in
                    if executes { _ = try? await operation.execute() }
                    return item
                })
                try await Scenario.run(on: kind) { scenario in
                    let a = try scenario.device(delegate: delegate)
                    try await a.table.insert(["id": "x", "text": "one"])
                    _ = try? await a.context.push()
                    #expect(try await a.table.items().map(\.id) == ["x"], "\(item.fields) \(executes)")
                    #expect(try await a.item("x")?.fields == ["text": "one"], "\(item.fields) \(executes)")
                    #expect(
                        try await a.operations().count == (executes ? 0 : 1), "\(item.fields) \(executes)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an invalid item set by a delegate is recorded on the operation, and the push continues`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            if operation.operation.itemID == "x" { operation.item = Item(id: "x", fields: ["nosuch": 1]) }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.table.insert(["id": "y", "text": "two"])
            let error = try await a.expectPushError()
            #expect(error.code == .invalidItem)
            #expect(error.itemID == "x")
            #expect(try scenario.row("y") != nil)
            #expect(try await a.item("x")?["text"] == "one")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that the delegate does not execute stays pending without an error`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: ClosureDelegate(perform: { _, _ in nil }))
            try await a.table.insert(["id": "x", "text": "one"])
            let result = try await a.context.push()
            #expect(result.completed == 0)
            #expect(scenario.server.requests.isEmpty)
            #expect(try await a.operations().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an error thrown by the delegate is recorded, and removed after a successful push`(_ kind: StoreKind)
        async throws
    {
        struct Refusal: Error, CustomStringConvertible { let description = "refused" }
        let fails = Mutex(true)
        let delegate = ClosureDelegate(perform: { _, operation in
            if fails.withLock({ $0 }) { throw Refusal() }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            let error = try await a.expectPushError()
            #expect(error.message == "refused")
            #expect(try await a.context.operationErrors() == [error])
            fails.withLock { $0 = false }
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate can end the push, and operations not executed stay pending`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            if operation.operation.itemID == "b" {
                operation.cancelPush()
                return nil
            }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            for id in ["a", "b", "c"] { try await a.table.insert(["id": .text(id)]) }
            let error = await expectError(.pushAbortedCancelled) { try await a.context.push() }
            #expect(error?.pushResult?.completed == 1)
            #expect(try await a.operations().map(\.itemID) == ["b", "c"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `errors that a delegate resolves in didCompletePush are not thrown`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(complete: { context, result in
            for error in result.errors {
                guard let server = error.serverItem else { continue }
                try? await context.cancelAndUpdateItem(for: error, with: server)
            }
        })
        try await conflict(on: kind, delegate) { scenario, a in
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "theirs")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation queued behind another is not marked as sent by a delegate's item`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            let item = operation.item
            _ = try? await operation.execute()
            return operation.operation.kind == .insert ? item : nil
        })
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await a.table.delete(id: "x")
            scenario.server.inject(.refusal(503), .refusal(503), when: { $0.method == "DELETE" })
            _ = try? await a.context.push()
            try await a.table.insert(["id": "x", "text": "new"])
            _ = try? await a.context.push()
            #expect(try await a.operations().map(\.kind) == [.delete, .insert])
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item set by a delegate does not undo an edit made during the callback`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { context, operation in
            operation.item?["priority"] = 7
            if operation.operation.revision == 0 {
                try await context.table(Todo.name).update(id: "x", ["text": "two"])
            }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            _ = try? await a.context.push()
            #expect(try await a.item("x")?["text"] == "two")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item returned after success restores neither an old version nor a deleted item`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            let item = operation.item
            try await operation.execute()
            return item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            for text in ["two", "three"] {
                try await a.table.update(id: "x", ["text": .text(text)])
                try await a.context.push()
                try await scenario.expectAgreement(a)
            }
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item with a version that the store does not know is sent whole`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            if operation.item?["priority"] == 2 { operation.item?.system.version = "Mg==" }
            return try await operation.execute()
        })
        try await conflict(on: kind, delegate) { scenario, a in
            try await a.context.push()
            let fields = try scenario.row("x")?.fields.filter { !$0.value.isNull }
            #expect(fields == ["text": "one", "priority": 2])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns without a version keeps the version of the row`(_ kind: StoreKind)
        async throws
    {
        let delegate = ClosureDelegate(perform: { _, operation in
            guard operation.item?["priority"] == 2 else { return try await operation.execute() }
            return Item(id: "x", fields: ["text": "decided", "priority": 3])
        })
        try await conflict(on: kind, delegate) { scenario, a in
            let version = try await a.item("x")?.system.version
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "ours"])
            #expect(try await a.operations().map(\.version) == [version])
            #expect(try await a.expectPushError().code == .preconditionFailed)
            #expect(scenario.writes().last?.header("If-Match") != nil)
        }
    }
}
