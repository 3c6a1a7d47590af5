// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Rows of which the device does not know the version do not lose another client's change.
@Suite struct UnknownRowTests {
    @Test(arguments: StoreKind.allCases)
    func `keeping an insert whose conflict shows no row does not overwrite a row inserted later`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.refusal(409), when: \.isWrite)
            let first = try await a.expectPushError()
            #expect(first.code == .itemAlreadyOnServer)
            #expect(first.serverItem == nil)
            try await a.context.keepAndUpdateItem(for: first, with: try #require(first.item))
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            let second = try await a.expectPushError()
            #expect(second.isConflict)
            #expect(second.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: second, with: try #require(second.item))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keeping an insert whose conflict shows no row inserts it when the server has none`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = .clientWins
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.refusal(409), when: \.isWrite)
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changing a refused insert into an update does not overwrite another client's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let refused = try await a.expectPushError()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.context.changeKind(for: refused, to: .update)
            #expect(try await a.expectPushError().serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    /// Loses the response to an insert, after which another client sets a field that the insert did not send.
    private func insertWithLostResponse(_ scenario: Scenario) async throws -> Device {
        let a = try scenario.device(settings: .singleAttempt)
        try await a.table.insert(["id": "x", "text": "ours"])
        await a.pushLosingResponse(of: scenario.server)
        try await scenario.server.update("x", ["priority": 2], in: Todo.name)
        return a
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit after an insert with a lost answer does not overwrite a later change of the same field`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try await insertWithLostResponse(scenario)
            try await a.table.update(id: "x", ["priority": 1])
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.fields["priority"] == 2)
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete after an insert with a lost answer does not remove a later change`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try await insertWithLostResponse(scenario)
            try await a.table.delete(id: "x")
            #expect(try await a.expectPushError().serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete behind an insert with a lost answer does not remove a later change`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try await insertWithLostResponse(scenario)
            _ = try await scenario.push(a) { _ in try await a.table.delete(id: "x") }
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that the app deletes in its database while its insert completes is deleted on the server`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            let item = try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await scenario.push(a) { _ in
                _ = try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            }.get()
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a row that the app deletes in its database is not deleted on the server after another client's change`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            let item = try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await scenario.push(a) { _ in
                _ = try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            }.get()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            let error = try await a.expectPushError()
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that was never sent can be deleted in the app's database`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.context.enqueueExternalChanges(
                in: Todo.name, deleted: [Item(id: "x", fields: ["text": "ours"])])
            try await a.context.push()
            #expect(scenario.writes().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that the app deletes in its database while its update completes is deleted after a decision`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            let item = try await a.table.update(id: "x", ["text": "two"])
            _ = try await scenario.push(a) { _ in
                _ = try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            }.get()
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            // The item has the version before the update, so that the server reports a conflict.
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.serverItem?["text"] == "two")
            try await a.context.changeKind(for: error, to: .delete)
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `discarding a deletion that the app queued late brings back no edit that was never sent`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            let item = try await a.table.update(id: "x", ["text": "two"])
            try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            // There is no item to send any more.
            try await #expect(a.expectPushError().code == .expectedItem)
            #expect(scenario.writes().isEmpty)
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("x")?["text"] == "one")
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion changed into an update has the version from the response to the insert before it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            let item = Item(id: "x", fields: ["text": "ours"])
            try a.store.write { try $0.upsert([item], in: Todo.name) }
            try await a.context.enqueueExisting(Todo.query)
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(.hold(gate), .refusal(400), when: \.isWrite)
            let push = Task { await a.pushErrors() }
            await gate.waitForArrivals()
            try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            gate.open()
            let error = try #require(await push.value.first)
            #expect(error.kind == .delete)
            try await a.context.changeKind(for: error, to: .update)
            #expect(try await a.item("x")?.system.version == scenario.row("x")?.version)
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit during an insert that meets an equal row does not overwrite another column of that row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "same", "priority": 2], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "same"])
            _ = try await scenario.push(a) { _ in try await a.table.update(id: "x", ["priority": 1]) }
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.fields["priority"] == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the delete of an item that was never synced does not delete another client's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try a.store.write { try $0.upsert([Item(id: "x", fields: ["text": "ours"])], in: Todo.name) }
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.delete(id: "x")
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that is pulled during its deletion does not come back when the response is lost`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            var settings = SyncSettings()
            settings.retry.maxAttempts = 2
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.dropAnswer, .dropRequest)
            _ = try? await a.context.push()
            try await a.table.delete(id: "x")
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(.hold(gate, then: .dropAnswer), when: { $0.method == "DELETE" })
            let push = Task { try await a.context.push() }
            await gate.waitForArrivals()
            try await a.pullWithoutPush()
            gate.open()
            _ = try await push.value
            #expect(try await a.texts().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `the server's reason for refusing a delete after an insert with a lost answer is reported`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.delete(id: "x")
            scenario.server.onRequest { $0.isWrite ? .refusal(409, "it has children") : .none }
            let error = try await a.expectPushError()
            #expect(error.message.contains("it has children"))
            #expect(!error.isConflict)
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }
}
