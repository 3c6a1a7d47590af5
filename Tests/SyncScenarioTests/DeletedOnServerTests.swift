// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Edits of rows that another client has deleted.
@Suite struct DeletedOnServerTests {
    /// Returns a device with an edited item whose row another client has deleted, and the error of its push.
    private func conflict(
        _ scenario: Scenario, text: ItemValue = "Buy eggs (6)", leavingTombstone: Bool = true,
        attempts: Int = 3
    ) async throws -> (Device, TableOperationError) {
        var settings = SyncSettings()
        settings.retry.maxAttempts = attempts
        let a = try scenario.device("A", settings: settings)
        let item = try await a.table.insert(["text": "Buy eggs", "complete": false])
        try await a.sync()
        try await scenario.server.update(item.id, ["text": "Buy organic eggs"], in: Todo.name)
        try await scenario.server.remove(item.id, in: Todo.name, leavingTombstone: leavingTombstone)
        try await a.table.update(id: item.id, ["text": text])
        let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
        let failure = try #require(error?.pushResult?.errors.first)
        #expect(failure.isConflict)
        return (a, failure)
    }

    @Test(arguments: StoreKind.allCases, ["Buy eggs (6)", "Buy organic eggs"])
    func `an edit can undelete a row`(_ kind: StoreKind, text: String) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, text: .text(text))
            #expect(failure.serverItem?.system.deleted == true)
            let mine = try #require(try await a.table.item(id: failure.itemID))
            try await a.context.keepAndUpdateItem(for: failure, with: mine)
            #expect(try await a.table.item(id: failure.itemID)?.system.deleted == false)
            try await a.sync()
            let row = try #require(try scenario.server.row(failure.itemID, in: Todo.name))
            #expect(!row.deleted)
            #expect(row.fields == ["text": .text(text), "complete": false])
            let stored = try #require(try await a.table.item(id: failure.itemID))
            #expect(stored["text"]?.textValue == text)
            #expect(stored.system.version == row.version)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delegate can undelete a row by the version of its tombstone`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: ClosureDelegate.retryingWithServerVersion)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "two"])
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == false)
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    /// Some servers answer 412 without a body to a condition on a missing row.
    @Test(arguments: StoreKind.allCases)
    func `a failed condition on a missing row means that the row is not on the server`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.inject(.refusal(412), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.code == .itemNotOnServer)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item deleted on both sides during its update is no conflict`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            let result = try await scenario.push(a) { _ in
                try await scenario.server.remove("x", in: Todo.name)
                try await a.table.delete(id: "x")
            }
            #expect(throws: Never.self) { try result.get() }
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `undeleting a row that another client has undeleted is a conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario)
            try await a.context.changeKind(for: failure, to: .update)
            try await scenario.server.put(failure.itemID, ["text": "Buy bread"], in: Todo.name)
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            #expect(error?.pushResult?.errors.first?.serverItem?["text"] == "Buy bread")
            #expect(try await a.texts() == ["Buy eggs (6)"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit after a lost undelete does not overwrite another client's change of the field`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, attempts: 1)
            let id = failure.itemID
            let mine = try #require(try await a.table.item(id: id))
            try await a.context.keepAndUpdateItem(for: failure, with: mine)
            scenario.server.inject(.dropAnswer, when: { $0.method == "PATCH" })
            _ = try? await a.context.push()
            try await scenario.server.update(id, ["priority": 2], in: Todo.name)
            try await a.table.update(id: id, ["priority": 1])
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["priority"] == 2)
            #expect(try scenario.row(id)?.fields["priority"] == 2)
        }
    }

    /// Messages lost during an undelete, which sends two requests.
    private static let losses: [[ServerFault]] = [
        [.dropAnswer], [.dropAnswer, .none, .dropAnswer], [.none, .dropRequest], [.none, .dropAnswer],
    ]

    @Test(arguments: StoreKind.allCases, losses)
    func `a row is undeleted with the edit whichever response is lost`(
        _ kind: StoreKind, _ losses: [ServerFault]
    )
        async throws
    {
        for attempts in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let (a, failure) = try await conflict(scenario, attempts: attempts)
                try await a.context.changeKind(for: failure, to: .update)
                for loss in losses { scenario.server.inject(loss, when: \.isWrite) }
                for _ in 0..<2 where try await !a.operations().isEmpty { _ = try? await a.context.push() }
                try await a.sync()
                #expect(try scenario.serverTexts() == ["Buy eggs (6)"])
                #expect(try await a.texts() == ["Buy eggs (6)"])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change by another client after the undelete is a conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, attempts: 1)
            try await a.context.changeKind(for: failure, to: .update)
            scenario.server.inject(.none, .dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.update(failure.itemID, ["complete": true], in: Todo.name)
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            #expect(error?.pushResult?.errors.first?.serverItem?["complete"] == true)
            #expect(try scenario.serverTexts() == ["Buy organic eggs"])
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a change in the store after the undelete is no conflict with it`(
        _ kind: StoreKind, isPulledAfter: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, attempts: 1)
            try await a.context.changeKind(for: failure, to: .update)
            scenario.server.inject(.none, .refusal(400), when: \.isWrite)
            #expect(try await a.expectPushError().status == 400)
            func change() async throws {
                try a.changeDirectly(failure.itemID) { $0["priority"] = 5 }
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: [failure.itemID])
            }
            if isPulledAfter { try await change() }
            try await a.pullWithoutPush()
            if !isPulledAfter {
                _ = try await scenario.push(a, then: .refusal(400)) { _ in try await change() }
            }
            try await a.context.push()
            #expect(try scenario.row(failure.itemID)?.fields["priority"] == 5)
            #expect(try scenario.serverTexts() == ["Buy eggs (6)"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of a hard-deleted row can insert it again`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, leavingTombstone: false)
            #expect(failure.code == .itemNotOnServer)
            try await a.context.changeKind(for: failure, to: .insert)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["Buy eggs (6)"])
            #expect(try await a.texts() == ["Buy eggs (6)"])
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `discarding an edit of a deleted row removes the item`(
        _ kind: StoreKind, leavingTombstone: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, failure) = try await conflict(scenario, leavingTombstone: leavingTombstone)
            try await a.context.cancelAndDiscardItem(for: failure)
            #expect(try await a.texts() == [])
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert with the id of a deleted row undeletes it after changeKind to update`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("eggs", ["text": "Buy eggs"], in: Todo.name)
            try await scenario.server.remove("eggs", in: Todo.name)
            let a = try scenario.device("A")
            try await a.table.insert(["id": "eggs", "text": "Buy more eggs"])
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            let failure = try #require(error?.pushResult?.errors.first)
            #expect(try await a.texts() == ["Buy more eggs"])
            try await a.context.changeKind(for: failure, to: .update)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["Buy more eggs"])
            #expect(try await a.texts() == ["Buy more eggs"])
        }
    }

    /// Runs the body with a device whose update of a hard-deleted row is answered after another change of the row is pulled.
    private func run(
        on kind: StoreKind, settings: SyncSettings = SyncSettings(), then fault: ServerFault = .none,
        change: (TableServer) async throws -> Void, afterPull: (TableServer) async throws -> Void = { _ in },
        _ body: (Device, Result<PushResult, any Error>) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(.hold(gate, then: fault), when: \.isWrite)
            let push = Task { try await a.context.push() }
            await gate.waitForArrivals()
            try await change(scenario.server)
            try await a.pullWithoutPush()
            try await afterPull(scenario.server)
            gate.open()
            try await body(a, await push.result)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that is inserted again and pulled before the response that it is missing is kept`(
        _ kind: StoreKind
    ) async throws {
        var settings = SyncSettings()
        settings.resolver = .serverWins
        try await run(on: kind, settings: settings, then: .refusal(404)) { server in
            try await server.remove("x", in: Todo.name, leavingTombstone: false)
            server.clock.advance(by: .seconds(5))
            try await server.put("x", ["text": "new"], in: Todo.name)
        } _: { a, result in
            _ = try result.get()
            #expect(try await a.texts() == ["new"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that is pulled before it is deleted is not restored when the change is discarded`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { server in
            server.clock.advance(by: .seconds(5))
            try await server.update("x", ["text": "theirs"], in: Todo.name)
        } afterPull: { server in
            try await server.remove("x", in: Todo.name, leavingTombstone: false)
        } _: { a, _ in
            let error = try #require(try await a.context.operationErrors().first)
            #expect(error.code == .itemNotOnServer)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts().isEmpty)
        }
    }

    /// The server's row does not have the columns without a value.
    @Test func `a row that was deleted for good and inserted again has no values of the former one`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            try await scenario.server.put("x", ["text": "old", "priority": 1], in: Todo.name)
            let a = try scenario.wholeRowDevice()
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            try await a.sync()
            #expect(try await a.item("x")?["priority"] == nil)
            try await a.table.update(id: "x", ["text": "edited"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] ?? .null == .null)
        }
    }

    /// The base of the change is what the device had sent: the server never had it, because another client changed the row too.
    @Test(arguments: StoreKind.allCases)
    func `discarding a change of a missing row does not store a state that the server never had`(
        _ kind: StoreKind
    ) async throws {
        let refuses = Mutex(false)
        let delegate = ClosureDelegate(perform: { _, operation in
            if refuses.withLock(\.self) { throw CocoaError(.userCancelled) }
            return try await operation.execute()
        })
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(delegate: delegate, settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.update(id: "x", ["priority": 2])
            try await scenario.server.update("x", ["priority": 3], in: Todo.name)
            _ = await a.expectPushErrors()
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            #expect(try await a.expectPushError().code == .itemNotOnServer)
            refuses.withLock { $0 = true }
            let refusal = try await a.expectPushError()
            #expect(refusal.code == .itemNotOnServer)
            try await a.context.cancelAndDiscardItem(for: refusal)
            #expect(try await a.item("x") == nil)
            try await scenario.expectAgreement(a)
        }
    }

    /// The base is the row of the conflict, and newer than the deleted item.
    @Test(arguments: StoreKind.allCases)
    func `discarding a delete that was kept after a conflict restores the server's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            try await a.context.changeKind(for: try await a.expectPushError(), to: .delete)
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let refusal = try await a.expectPushError()
            #expect(refusal.serverItem == nil)
            try await a.context.cancelAndDiscardItem(for: refusal)
            #expect(try await a.item("x")?["text"] == "two")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of an outdated copy keeps nothing of a row that is gone`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) {
            $0.tables = [.init(Todo.name, softDelete: false)]
        } _: { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            var copy = try #require(try await a.item("x"))
            copy["text"] = "mine"
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["priority": 1])
            let edited = copy
            _ = try await scenario.push(a) { _ in
                try await a.table.replace(edited)
                try await scenario.server.remove("x", in: Todo.name)
            }
            #expect(try await a.operations().map(\.serverItem) == [nil])
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("x") == nil)
            try await scenario.expectAgreement(a)
        }
    }
}
