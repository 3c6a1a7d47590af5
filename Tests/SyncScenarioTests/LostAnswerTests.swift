// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Lost responses: an applied operation is neither applied again nor reported as a conflict.
@Suite struct LostAnswerTests {
    /// A way to lose the response after the server applied the request.
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

    /// Returns settings with that many attempts: with one the push fails, with more it retries.
    private func settings(attempts: Int) -> SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = attempts
        return settings
    }

    /// Pushes until the queue is empty, and once more.
    private func pushUntilEmpty(_ device: Device) async throws {
        for _ in 0..<3 where try await !device.operations().isEmpty { _ = try? await device.context.push() }
        try await device.context.push()
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `an insert whose answer is lost is applied once`(_ kind: StoreKind, _ loss: Loss) async throws {
        for attempts in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(attempts: attempts))
                try await a.table.insert(["id": "x", "text": "one", "price": 1.5])
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilEmpty(a)
                #expect(try scenario.server.rows(in: Todo.name).count == 1)
                #expect(try scenario.row("x")?.version == "MQ==")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `an update whose answer is lost is applied once`(_ kind: StoreKind, _ loss: Loss) async throws {
        for attempts in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(attempts: attempts))
                try await a.table.insert(["id": "x", "text": "one"])
                try await a.context.push()
                try await a.table.update(id: "x", ["text": "two"])
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilEmpty(a)
                #expect(try scenario.row("x")?.version == "Mg==")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Loss.allCases)
    func `a delete whose answer is lost is completed`(_ kind: StoreKind, _ loss: Loss) async throws {
        for attempts in [1, 3] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: settings(attempts: attempts))
                try await a.table.insert(["id": "x", "text": "one"])
                try await a.context.push()
                try await a.table.delete(id: "x")
                scenario.server.inject(loss.fault, when: \.isWrite)
                try await pushUntilEmpty(a)
                #expect(try scenario.row("x")?.deleted == true)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting an item whose insert may have been applied deletes the row on the server`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
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
    func `deleting an item whose insert was applied twice deletes the row in one push`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
            try await a.table.insert(["id": "x", "text": "one"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.pullWithoutPush()
            let version = try scenario.row("x")?.version
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            await a.pushLosingResponse(of: scenario.server)
            #expect(try scenario.row("x")?.version != version)
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting an item whose insert was not applied completes without an error`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.delete(id: "x")
            try await a.sync()
            #expect(try scenario.row("x") == nil)
            try await scenario.expectAgreement(a)
        }
    }

    /// The response to the applied first request is lost; the retry in the same push is refused.
    @Test(arguments: StoreKind.allCases)
    func `a refusal of a retry does not prove that the first request was not applied`(
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
    func `edits made after a lost answer are sent by the push that proves it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
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
    func `a row of another client with the same id is a conflict, not the device's own insert`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            let error = try await a.expectPushError()
            #expect(error.status == 409)
            #expect(error.code == .itemAlreadyOnServer)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of another client after a lost update is detected by its fields`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
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
            let error = try await a.expectPushError()
            #expect(error.itemID == "x")
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try await a.item("y")?["priority"] == 5)
            #expect(try await a.item("y")?["text"] == "two")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a lost response to an item that was inserted again is no conflict with fields that it has not changed`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.context.batch { local in
                try local.delete(id: "x", in: Todo.name)
                try local.insert(["id": "x", "text": "two", "priority": 1], in: Todo.name)
            }
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.update("x", ["priority": 5], in: Todo.name)
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "two")
            #expect(try await a.item("x")?["priority"] == 5)
        }
    }

    /// The last update of the row is only assumed to be the device's own, so the delete conflicts with another change.
    @Test(arguments: StoreKind.allCases)
    func `a delete after a lost update does not delete another client's change`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            await a.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("x", ["priority": 5], in: Todo.name)
            try await a.table.delete(id: "x")
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["priority"] == 5)
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete after a lost update succeeds when only the lost update changed the row`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: settings(attempts: 1))
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two", "note": "mine"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.delete(id: "x")
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }
}
