// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// A decision about an operation does not overwrite a change made after the decision was offered.
@Suite struct StaleDecisionTests {
    /// Runs the body with a device that has a delete with unknown outcome.
    private func unknownDelete(
        on kind: StoreKind, delegate: ClosureDelegate? = nil,
        _ body: (Scenario, Device, TableOperationError) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old", "priority": 1], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.delete(id: "x")
            scenario.server.inject(.refusal(500), when: { $0.method == "DELETE" })
            try await body(scenario, a, try await a.expectPushError())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a decision about a delete is refused after the id was inserted again`(_ kind: StoreKind)
        async throws
    {
        try await unknownDelete(on: kind) { scenario, a, error in
            try await a.table.insert(["id": "x", "text": "new"])
            let old = Item(id: "x", fields: ["text": "old"])
            await expectError(.operationChanged) { try await a.context.cancelAndDiscardItem(for: error) }
            await expectError(.operationChanged) {
                try await a.context.cancelAndUpdateItem(for: error, with: old)
            }
            await expectError(.operationChanged) { try await a.context.changeKind(for: error, to: .delete) }
            await expectError(.operationChanged) {
                try await a.context.changeKind(for: error, to: .update, with: old)
            }
            // An edit of the new item is also a newer change.
            let offered = try #require(try await a.context.operationErrors().first)
            try await a.table.update(id: "x", ["priority": 2])
            await expectError(.operationChanged) { try await a.context.cancelAndDiscardItem(for: offered) }
            #expect(try await a.item("x")?["text"] == "new")
            try await a.context.push()
            let row = try #require(try scenario.row("x"))
            #expect(row.fields["text"] == "new" && row.fields["priority"] == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `inserting an item again unparks the delete before it`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            for status in [500, 400] {
                scenario.server.inject(.refusal(status), when: { $0.method == "DELETE" })
                _ = try await a.expectPushError()
            }
            #expect(try await a.operations().map(\.state) == [.parked])
            try await a.table.insert(["id": "x", "text": "new"])
            #expect(try await a.operations().map(\.state) == [.attempted, .pending])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a decision made after a newer change resolves its operation and keeps the newer change`(
        _ kind: StoreKind
    ) async throws {
        let decisions: [@Sendable (SyncContext, TableOperationError) async throws -> Void] = [
            { try await $0.cancelAndDiscardItem(for: $1) },
            { try await $0.changeKind(for: $1, to: .delete) },
        ]
        for decide in decisions {
            try await unknownDelete(on: kind) { scenario, a, _ in
                try await a.table.insert(["id": "x", "text": "new"])
                scenario.server.inject(.refusal(500), when: { $0.method == "DELETE" })
                let error = try await a.expectPushError()
                #expect(error.kind == .delete)
                // No item of a decision replaces the newer one.
                let item = Item(id: "x", fields: ["text": "old"])
                await expectError(.invalidOperation) {
                    try await a.context.cancelAndUpdateItem(for: error, with: item)
                }
                await expectError(.invalidOperation) {
                    try await a.context.changeKind(for: error, to: .update, with: item)
                }
                try await decide(a.context, error)
                #expect(try await a.item("x")?["text"] == "new")
                for _ in 0..<3 {
                    guard let conflict = (await a.pushErrors()).first else { break }
                    let mine = try #require(conflict.item)
                    try await a.context.keepAndUpdateItem(for: conflict, with: mine)
                }
                #expect(try scenario.row("x")?.fields["text"] == "new")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a delegate returns for a delete does not replace an item inserted during the callback`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { context, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                guard error.kind == .delete else { throw error }
                try await context.table(Todo.name).insert(["id": "x", "text": "new"])
                return Item(id: "x", fields: ["text": "restored"])
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.delete(id: "x")
            scenario.server.inject(.refusal(500), when: { $0.method == "DELETE" })
            _ = try? await a.context.push()
            #expect(try await a.item("x")?["text"] == "new")
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }

    /// The user edits during the callback: instead of `execute`, or after it failed.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `an edit during a delegate's callback stays pending when the delegate returns an item`(
        _ kind: StoreKind, _ executes: Bool
    ) async throws {
        let isFirst = Mutex(true)
        let delegate = ClosureDelegate(perform: { context, operation in
            let decides = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard decides else { return try await operation.execute() }
            if executes { _ = try? await operation.execute() }
            try await context.table(Todo.name).update(id: "x", ["priority": 2])
            return Item(id: "x", fields: ["text": "decided", "priority": 0])
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.update(id: "x", ["text": "two"])
            if executes { scenario.server.inject(.refusal(400), when: \.isWrite) }
            try await a.context.push()
            #expect(try await a.operations().map(\.kind) == [.update])
            #expect(try await a.item("x")?["priority"] == 2)
            #expect(try await a.item("x")?["text"] == "decided")
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit during a failing attempt stays pending when the delegate returns the server's row`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let error as TableOperationError {
                return error.serverItem
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.update(id: "x", ["text": "mine"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            _ = try await scenario.push(a) { _ in try await a.table.update(id: "x", ["priority": 2]) }.get()
            #expect(try await a.item("x")?["text"] == "theirs")
            #expect(try await a.item("x")?["priority"] == 2)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 2)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete during a delegate's callback stays pending when the delegate returns an item`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { context, operation in
            guard operation.operation.kind == .update else { return try await operation.execute() }
            try await context.table(Todo.name).delete(id: "x")
            return operation.item
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.update(id: "x", ["text": "two"])
            _ = try? await a.context.push()
            #expect(try await a.item("x") == nil)
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the second item that a delegate sends replaces the first`(_ kind: StoreKind) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            operation.item?["text"] = "first"
            do { return try await operation.execute() } catch is TableOperationError {
                operation.item?["text"] = "second"
                return try await operation.execute()
            }
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(400))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "second")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a decision about an insert before a crash sends the newer edit with a condition`(
        _ kind: StoreKind, _ discards: Bool
    ) async throws {
        struct Refusal: Error {}
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "theirs", "priority": 1], in: Todo.name)
            let first = try scenario.crashableDevice(settings: .singleAttempt)
            try await first.table.insert(["id": "x", "text": "ours"])
            var second = first
            _ = try await scenario.push(first, then: .dropRequest) { _ in
                try await first.table.update(id: "x", ["text": "edited"])
                let refusing = ClosureDelegate(perform: { _, _ in throw Refusal() })
                second = try scenario.restart(first, delegate: refusing)
            }
            let error = try await second.expectPushError()
            if discards {
                try await second.context.cancelAndDiscardItem(for: error)
            } else {
                try await second.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            }
            let last = try scenario.restart(second)
            if discards {
                #expect(try await last.context.push().completed == 0)
            } else {
                #expect(try await last.expectPushError().isConflict)
            }
            #expect(try scenario.row("x")?.fields == ["text": "theirs", "priority": 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion that was applied is no conflict after it was refused and kept`(_ kind: StoreKind)
        async throws
    {
        try await unknownDelete(on: kind) { scenario, a, _ in
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.insert(["id": "x", "text": "new"])
            scenario.server.inject(.refusal(400), when: { $0.method == "DELETE" })
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            try await a.context.changeKind(for: error, to: .delete)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
            try await scenario.expectAgreement(a)
        }
    }

    /// The later attempt has changed nothing, so that the failure is still the one to decide about.
    @Test(arguments: StoreKind.allCases)
    func `a recorded failure can be decided after a push that ended early`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "refused"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = try await a.expectPushError()
            scenario.server.inject(.refusal(401), when: \.isWrite)
            await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.keepAndUpdateItem(
                for: error, with: Item(id: "x", fields: ["text": "corrected"]))
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["corrected"])
        }
    }
}
