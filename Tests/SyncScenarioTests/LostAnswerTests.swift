// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Answers that never arrive: what was applied once must not be applied again, nor be taken for a conflict.
@Suite struct LostAnswerTests {
    /// A way to lose an answer after the server has acted.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case dropped, truncated, unreadable, status500, status502, status503, status408, redirected, twice

        var testDescription: String { rawValue }

        var fault: ServerFault {
            switch self {
            case .dropped: .dropAnswer
            case .truncated: .truncateAnswer(afterBytes: 5)
            case .unreadable: .applyThenAnswer(status: 200, body: Data(#"{"id":"#.utf8))
            case .status500: .refusalAfterCommit(500)
            case .status502: .applyThenAnswer(status: 502, body: Data("<html>".utf8))
            case .status503: .refusalAfterCommit(503)
            case .status408: .refusalAfterCommit(408)
            case .redirected: .applyThenAnswer(status: 303, headers: ["Location": "http://127.0.0.1:9/"])
            case .twice: .applyTwice
            }
        }
    }

    /// How often a push tries: once shows the loss to the caller, more often hides it inside one push.
    private func settings(tries: Int) -> SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = tries
        return settings
    }

    /// Pushes until a push ends well; a lost answer may end some of them.
    private func pushUntilDone(_ device: Device) async throws {
        for _ in 0..<3 where try await !device.operations().isEmpty { _ = try? await device.context.push() }
        try await device.context.push()
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `an insert whose answer is lost is applied once`(_ kind: StoreKind, _ loss: Loss) async throws {
        for tries in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(tries: tries))
                try await a.table.insert(["id": "x", "text": "one", "price": 1.5])
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilDone(a)
                #expect(try scenario.server.rows(in: Todo.name).count == 1)
                #expect(try scenario.row("x")?.version == "MQ==")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `an update whose answer is lost is applied once`(_ kind: StoreKind, _ loss: Loss) async throws {
        for tries in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(tries: tries))
                try await a.table.insert(["id": "x", "text": "one"])
                try await a.context.push()
                try await a.table.update(id: "x", ["text": "two"])
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilDone(a)
                #expect(try scenario.row("x")?.version == "Mg==")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `a delete whose answer is lost is done`(_ kind: StoreKind, _ loss: Loss) async throws {
        for tries in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(tries: tries))
                try await a.table.insert(["id": "x", "text": "one"])
                try await a.context.push()
                try await a.table.delete(id: "x")
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilDone(a)
                #expect(try scenario.row("x")?.deleted == true)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert that may have arrived and is deleted then is deleted on the server`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.delete(id: "x")
            #expect(try await a.operations().map(\.kind) == [.delete])
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert that did not arrive and is deleted then is done without an error`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.delete(id: "x")
            try await a.sync()
            #expect(try scenario.row("x") == nil)
            try await scenario.expectAgreement(a)
        }
    }

    /// The first request is applied and not answered; the second, inside the same push, is refused.
    @Test(arguments: StoreKind.allCases)
    func `a refusal does not prove that an unanswered request before it was not applied`(
        _ kind: StoreKind
    ) async throws {
        for status in [400, 401, 403, 422] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device()
                try await a.table.insert(["id": "x", "text": "one"])
                scenario.server.inject(.dropAnswer, .refusal(status), when: \.isWrite)
                _ = try? await a.context.push()
                #expect(try await a.operations().map(\.isAmbiguous) == [true])
                try await a.table.delete(id: "x")
                try await a.sync()
                #expect(try scenario.row("x")?.deleted == true)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `edits made after a lost answer go out in the same push that proves it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.update(id: "x", ["text": "two"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `somebody else's row with the same id is a conflict, not our own insert`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            let error = try await a.failedPush()
            #expect(error.status == 409)
            #expect(error.code == .itemAlreadyOnServer)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `another change after our lost one is told apart by its fields`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            let changes: [(id: String, fields: [String: ItemValue])] = [
                ("y", ["priority": 5]), ("x", ["text": "theirs"]),
            ]
            for (id, _) in changes { try await a.table.insert(["id": .text(id), "text": "one"]) }
            try await a.context.push()
            for (id, fields) in changes {
                try await a.table.update(id: id, ["text": "two"])
                scenario.server.inject(.dropAnswer, when: { $0.itemID == id && $0.isWrite })
                await expectError(.pushAbortedNetwork) { try await a.context.push() }
                try await scenario.server.update(id, fields, in: Todo.name)
            }
            let error = try await a.failedPush()
            #expect(error.itemID == "x")
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try await a.item("y")?["priority"] == 5)
            #expect(try await a.item("y")?["text"] == "two")
        }
    }

    /// Deleting a row whose last update is only presumed to be ours must not take another change with it.
    @Test(arguments: StoreKind.allCases)
    func `a delete behind a lost update does not delete somebody else's change`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.update("x", ["priority": 5], in: Todo.name)
            try await a.table.delete(id: "x")
            let error = try await a.failedPush()
            #expect(error.isConflict)
            #expect(error.serverItem?["priority"] == 5)
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete behind a lost update of our own goes through`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(tries: 1))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two", "note": "mine"])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.delete(id: "x")
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }
}
