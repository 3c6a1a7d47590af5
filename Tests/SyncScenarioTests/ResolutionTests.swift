// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Resolutions of failed operations by the app.
@Suite struct ResolutionTests {
    /// Runs the body with a conflict: both sides have changed a row, and the push failed with the error.
    private func conflict(
        on kind: StoreKind, deleting: Bool = false,
        _ body: (Scenario, Device, TableOperationError) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.crashableDevice()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            if deleting {
                try await a.table.delete(id: "x")
            } else {
                try await a.table.update(id: "x", ["text": "ours", "price": 2.5, "note": "mine"])
            }
            try await body(scenario, a, try await a.expectPushError())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keepAndUpdateItem sends the item with the version of the reported row`(_ kind: StoreKind)
        async throws
    {
        try await conflict(on: kind) { scenario, a, error in
            try await a.context.keepAndUpdateItem(for: error, with: Item(id: "x", fields: ["text": "merged"]))
            #expect(try await a.context.operationErrors().isEmpty)
            try await a.context.push()
            #expect(scenario.writes().last?.header("If-Match") == "\"Mg==\"")
            #expect(try scenario.row("x")?.fields["text"] == "merged")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keepAndUpdateItem overwrites the reported row but no later change`(_ kind: StoreKind) async throws {
        try await conflict(on: kind) { scenario, a, error in
            try await a.context.keepAndUpdateItem(for: error, with: Item(id: "x", fields: ["text": "merged"]))
            try await scenario.server.update("x", ["text": "later"], in: Todo.name)
            #expect(try await a.expectPushError().serverItem?["text"] == "later")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cancelAndDiscardItem restores the server's row and keeps local-only columns`(
        _ kind: StoreKind
    ) async throws {
        try await conflict(on: kind) { scenario, a, error in
            try await a.context.cancelAndDiscardItem(for: error)
            let item = try #require(try await a.item("x"))
            #expect(item.fields == ["text": "theirs", "priority": 1, "note": "mine"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cancelAndDiscardItem for a delete restores the item`(_ kind: StoreKind) async throws {
        try await conflict(on: kind, deleting: true) { scenario, a, error in
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("x")?["text"] == "theirs")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cancelAndUpdateItem removes fields that the item does not have`(_ kind: StoreKind) async throws {
        try await conflict(on: kind) { scenario, a, error in
            try await a.context.cancelAndUpdateItem(for: error, with: try #require(error.serverItem))
            #expect(try await a.item("x")?.fields == ["text": "theirs", "priority": 1, "note": "mine"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `cancelAndUpdateItem stores a merged item, also after a pull of the row in conflict`(
        _ kind: StoreKind, _ hasPulled: Bool
    ) async throws {
        try await conflict(on: kind) { scenario, a, error in
            if hasPulled { try await a.pullWithoutPush() }
            var merged = try #require(error.item)
            merged["text"] = "merged"
            try await a.context.cancelAndUpdateItem(for: error, with: merged)
            #expect(try await a.item("x")?["text"] == "merged")
            #expect(try await a.operations().isEmpty)
            // The next change is made on the version of the row that the error shows.
            try await a.table.update(id: "x", ["priority": 7])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 7)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cancelAndUpdateItem does not hide a later row that was pulled`(_ kind: StoreKind) async throws {
        try await conflict(on: kind) { scenario, a, error in
            try await scenario.server.update("x", ["text": "later"], in: Todo.name)
            try await a.pullWithoutPush()
            try await a.context.cancelAndUpdateItem(for: error, with: try #require(error.serverItem))
            try await a.pullWithoutPush()
            #expect(try await a.item("x")?["text"] == "later")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changeKind turns an update into a delete of the reported row`(_ kind: StoreKind)
        async throws
    {
        try await conflict(on: kind) { scenario, a, error in
            try await a.context.changeKind(for: error, to: .delete)
            #expect(try await a.item("x") == nil)
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changeKind turns an update of a missing row into an insert`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "two"])
            let error = try await a.expectPushError()
            #expect(error.code == .itemNotOnServer)
            try await a.context.changeKind(for: error, to: .insert)
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "two", "priority": 1])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused item can be corrected, and its operation keeps its kind`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "bad"])
            scenario.server.inject(.refusal(400, "no such text"))
            let refused = try await a.expectPushError()
            #expect(refused.message == "no such text")
            try await a.context.keepAndUpdateItem(for: refused, with: Item(id: "x", fields: ["text": "good"]))
            #expect(try await a.operations().map(\.kind) == [.insert])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "good")

            try await a.table.update(id: "x", ["text": "bad"])
            scenario.server.inject(.refusal(422))
            let again = try await a.expectPushError()
            var item = try #require(try await a.item("x"))
            item["text"] = "better"
            try await a.context.keepAndUpdateItem(for: again, with: item)
            #expect(try await a.operations().map(\.kind) == [.update])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "better")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that a decision gives an operation keeps the version of its row`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            var old = try #require(try await a.item("x"))
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "bad"])
            scenario.server.inject(.refusal(400))
            let refused = try await a.expectPushError()
            old["text"] = "two"
            try await a.context.keepAndUpdateItem(for: refused, with: old)
            // Nothing of it is sent: the server has it.
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an attempt with unknown outcome is kept when the item is corrected`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusalAfterCommit(500))
            let error = try await a.expectPushError()
            try await a.context.keepAndUpdateItem(for: error, with: Item(id: "x", fields: ["text": "two"]))
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a resolution is refused after the operation changed, and changes nothing`(
        _ kind: StoreKind
    ) async throws {
        try await conflict(on: kind) { scenario, a, error in
            try await a.table.update(id: "x", ["text": "edited since"])
            let (item, queue) = (try await a.item("x"), try await a.operations())
            let server = try #require(error.serverItem)
            let context = a.context
            await expectError(.operationChanged) {
                try await context.cancelAndUpdateItem(for: error, with: server)
            }
            await expectError(.operationChanged) { try await context.cancelAndDiscardItem(for: error) }
            await expectError(.operationChanged) {
                try await context.keepAndUpdateItem(for: error, with: server)
            }
            await expectError(.operationChanged) { try await context.changeKind(for: error, to: .delete) }
            #expect(try await a.item("x") == item)
            #expect(try await a.operations() == queue)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a resolution is refused when the operation does not exist or the item has another id`(
        _ kind: StoreKind
    ) async throws {
        try await conflict(on: kind) { scenario, a, error in
            let other = Item(id: "y", fields: ["text": "?"])
            let context = a.context
            await expectError(.invalidItemID) {
                try await context.cancelAndUpdateItem(for: error, with: other)
            }
            await expectError(.invalidItemID) {
                try await context.keepAndUpdateItem(for: error, with: other)
            }
            let bad = Item(id: "x", fields: ["nosuch": 1])
            await expectError(.invalidItem) { try await context.keepAndUpdateItem(for: error, with: bad) }
            #expect(try await context.operationErrors() == [error])
            try await context.cancelAndDiscardItem(for: error)
            let repeated = await expectError(.operationNotFound) {
                try await context.cancelAndDiscardItem(for: error)
            }
            #expect(repeated?.message.contains("or its error was resolved already") == true)
            #expect(try await a.table.items().map(\.id) == ["x"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `errors survive a restart and can be resolved afterwards`(_ kind: StoreKind) async throws {
        try await conflict(on: kind) { scenario, a, error in
            let restarted = try scenario.restart(a)
            #expect(try await restarted.context.operationErrors() == [error])
            try await restarted.context.cancelAndDiscardItem(for: error)
            let again = try scenario.restart(restarted)
            #expect(try await again.context.operationErrors().isEmpty)
            #expect(try await again.operations().isEmpty)
            try await scenario.expectAgreement(again)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an error of one table does not fail the push of another, and is removed with its operation`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let a = try scenario.device(tables: [Todo.definition, other])
            try await a.context.table("Other").insert(["id": "o", "text": "?"])
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(400), when: { $0.table == "Other" })
            #expect(try await a.expectPushError().table == "Other")
            #expect(try await a.context.operationErrors(in: Todo.name).isEmpty)
            try await a.context.push(tables: [Todo.name])
            #expect(try scenario.row("x") != nil)
            try await a.context.table("Other").delete(id: "o")
            #expect(try await a.context.operationErrors().isEmpty)
            try await a.context.push()
        }
    }

    @Test func `the correction of a refused change is a later change than one made before it`() async throws {
        try await Scenario.run(on: .memory, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let now = Mutex(Timestamp.unixEpoch)
            let a = try scenario.device(settings: .resolving(.lastWriterWins)) {
                $0.now = { now.withLock(\.self) }
            }
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "too long"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            scenario.server.clock.advance(by: .seconds(10))
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            now.withLock { $0 = $0.advanced(by: .seconds(20)) }
            try await a.context.keepAndUpdateItem(for: error, with: Item(id: "x", fields: ["text": "short"]))
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["short"])
            try await scenario.expectAgreement(a)
        }
    }
}
