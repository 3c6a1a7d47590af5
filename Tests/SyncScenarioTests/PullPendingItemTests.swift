// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Pulls of rows whose items have pending operations.
@Suite struct PullPendingItemTests {
    /// Runs the body with a pending update of a row that the server has also changed.
    private func withEditsOnBothSides(
        on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.crashableDevice()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours", "price": 2.5])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull does not overwrite a pending item, and the next push reports the conflict`(
        _ kind: StoreKind
    ) async throws {
        try await withEditsOnBothSides(on: kind) { scenario, a in
            let result = try await a.pullWithoutPush()
            #expect(result.skippedAsPending == 1)
            #expect(result.upserted == 0)
            #expect(try await a.item("x")?["text"] == "ours")
            #expect(try await a.expectPushError().serverItem?["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `discarding a pending change stores the row that the pull skipped`(
        _ kind: StoreKind
    ) async throws {
        try await withEditsOnBothSides(on: kind) { scenario, a in
            try await a.pullWithoutPush()
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            let restarted = try scenario.restart(a)
            try await restarted.context.cancelAndDiscardItem(for: error)
            #expect(try await restarted.item("x")?.fields == ["text": "theirs"])
            #expect(try await restarted.pullWithoutPush().upserted == 0)
            try await scenario.expectAgreement(restarted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone for a pending update is a conflict, and discarding the update removes the item`(
        _ kind: StoreKind
    ) async throws {
        try await withEditsOnBothSides(on: kind) { scenario, a in
            try await scenario.server.remove("x", in: Todo.name)
            try await a.pullWithoutPush()
            #expect(try await a.item("x")?["text"] == "ours")
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?.system.deleted == true)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("x") == nil)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone that is pulled during a delete is kept with it, and the push completes the delete`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            try await scenario.server.remove("x", in: Todo.name)
            try await a.pullWithoutPush()
            #expect(try await a.operations().map { $0.serverItem?.system.deleted } == [true])
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page does not overwrite a local write made during its request`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            scenario.server.onRequest { request in
                if request.isPage { _ = try? await a.table.update(id: "x", ["text": "ours"]) }
                return .none
            }
            #expect(try await a.pullWithoutPush().skippedAsPending == 1)
            #expect(try await a.item("x")?["text"] == "ours")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page does not revert an item that was pushed during its request`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["priority": 1], in: Todo.name)
            try await a.pullWithoutPush()
            let stale = try #require(try scenario.row("x"))
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                _ = try? await a.context.push()
                scenario.server.onRequest(nil)
                let body =
                    #"[{"id":"x","text":"one","priority":1,"deleted":false,"#
                    + #""version":"\#(stale.version)","updatedAt":"\#(stale.updatedAt.showing(fractionDigits: 3))"}]"#
                return .answer(
                    status: 200, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
            }
            try await a.pullWithoutPush()
            #expect(try await a.item("x")?["text"] == "two")
            let version = try scenario.row("x")?.version
            #expect(try await a.item("x")?.system.version == version)
            try await a.pullWithoutPush()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page with a later change than a push during its request is applied`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.clock.advance(by: .seconds(1))
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                _ = try? await a.context.push()
                scenario.server.onRequest(nil)
                scenario.server.clock.advance(by: .seconds(1))
                _ = try? await scenario.server.update("x", ["text": "later"], in: Todo.name)
                return .none
            }
            try await a.pullWithoutPush()
            try await a.pullWithoutPush()
            #expect(try await a.texts() == ["later"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that another client undeletes during the device's delete is not lost`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            scenario.server.onRequest { request in
                guard request.method == "DELETE" else { return .none }
                for text in ["deleted", "restored"] {
                    scenario.server.clock.advance(by: .seconds(1))
                    if text == "deleted" {
                        try? await scenario.server.remove("x", in: Todo.name)
                    } else {
                        _ = try? await scenario.server.put("x", ["text": .text(text)], in: Todo.name)
                    }
                }
                _ = try? await a.pullWithoutPush()
                return .answer(status: 204)
            }
            try await a.context.push()
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try await a.texts() == ["restored"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that is pulled during its delete is not stored again`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            await a.pushLosingResponse(of: scenario.server)
            // The push reads the version of the row, and deletes the row with that version.
            try await a.table.delete(id: "x")
            _ = try await scenario.push(a) { _ in try await a.pullWithoutPush() }.get()
            #expect(try await a.texts().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pulling the result of a lost update causes no conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.pullWithoutPush()
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a pull that finds the row of a pending insert reports that the server has the item already`(
        _ kind: StoreKind, isDeleted: Bool
    ) async throws {
        struct NoDecision: Error {}
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.resolver = ConflictResolver { _ in throw NoDecision() }
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            if isDeleted { try await scenario.server.remove("x", in: Todo.name) }
            try await a.table.insert(["id": "x", "text": "ours"])
            try await a.pullWithoutPush()
            let error = try #require(try await a.context.operationErrors().first)
            #expect(error.code == .itemAlreadyOnServer)
            #expect(error.serverItem?.system.deleted == isDeleted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row without version that a pull has received is not overwritten`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            scenario.server.onRequest { request in
                request.isPage ? .editFields { $0["version"] = nil } : .none
            }
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "mine"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.pullWithoutPush()
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: error, with: Item(id: "x", fields: ["text": "both"]))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "both")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull of an unchanged row whose version was not known is no conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            scenario.server.inject(
                .editFields { $0 = $0.filter { ["id", "text"].contains($0.key) } }, when: \.isPage)
            try await a.context.pull(Todo.query)
            #expect(try await a.item("x")?.system.version == nil)
            try await a.table.update(id: "x", ["text": "mine"])
            try await a.pullWithoutPush()
            #expect(try await a.texts() == ["mine"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "mine")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `the row that an update has undeleted before it was refused is no change of another client`(
        _ kind: StoreKind, _ isDeletedAgain: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = .updateWins(otherwise: .serverWins)
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            // The conflict, the undelete, and the update.
            scenario.server.inject(.none, .none, .refusal(400), when: \.isWrite)
            if isDeletedAgain {
                #expect(try await a.expectPushError().status == 400)
                #expect(try scenario.row("x")?.deleted == false)
                try await a.table.delete(id: "x")
                try await a.context.push()
                #expect(try scenario.row("x")?.deleted == true)
                return try await scenario.expectAgreement(a)
            }
            try await a.context.pull(Todo.query, queryID: "all")
            #expect(try scenario.row("x")?.deleted == false)
            #expect(try await a.item("x")?["text"] == "mine")
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "mine")
            try await scenario.expectAgreement(a)
        }
    }
    @Test(arguments: StoreKind.allCases, [true, false])
    func `an operation that has nothing to send does not take back another client's change`(
        _ kind: StoreKind, _ sendsChangedFieldsOnly: Bool
    ) async throws {
        var settings = SyncSettings()
        settings.resolver = .clientWins
        settings.sendsChangedFieldsOnly = sendsChangedFieldsOnly
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings)
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
            try await a.sync()
            try await a.table.update(id: "x", ["note": "read"])
            for text in ["two", "one"] { try await a.table.update(id: "y", ["text": .text(text)]) }
            for id in ["x", "y"] { try await scenario.server.update(id, ["text": "theirs"], in: Todo.name) }
            try await a.pullWithoutPush()
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["theirs", "theirs"])
            #expect(try await a.item("x")?["note"] == "read")
            #expect(try await a.operations().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }
}
