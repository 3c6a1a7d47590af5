// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Orders of events that random simulation found.
@Suite struct RareInterleavingTests {
    @Test(arguments: StoreKind.allCases)
    func `a delete behind an insert with a lost answer is a conflict when another client has changed the row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            await a.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            _ = try await scenario.push(a) { _ in try await a.table.delete(id: "x") }
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.deleted == false)
            try await a.context.changeKind(for: error, to: .delete)
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an undelete whose conflict response cannot be read is decided by the server's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            try await scenario.server.remove("x", in: Todo.name)
            let error = try await a.expectPushError()
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            scenario.server.inject(.dropAnswer, when: { $0.method == "POST" })
            scenario.server.inject(.truncateAnswer(afterBytes: 5), when: { $0.method == "POST" })
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == false)
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that a push stored before a purge is pulled again after a running pull`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(.hold(gate), when: \.isPage)
            let pull = Task { try await a.pullWithoutPush() }
            await gate.waitForArrivals()
            try await a.context.push()
            try await a.context.purge(Todo.query)
            gate.open()
            _ = try await pull.value
            try await a.pullWithoutPush()
            #expect(try await a.texts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update of a missing row does not overwrite a row inserted later with the same version`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.restartsVersions = true }) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            let version = try scenario.row("x")?.version
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            #expect(try await a.expectPushError().code == .itemNotOnServer)
            #expect(try await a.expectPushError().code == .itemNotOnServer)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            #expect(try scenario.row("x")?.version == version)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `an edit of an enqueued item whose insert's answer was lost does not overwrite another client's change`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try a.store.write { try $0.upsert([Item(id: "x", fields: ["text": "ours"])], in: Todo.name) }
            try await a.context.enqueueExisting(Todo.query)
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.update(id: "x", ["text": "edited"])
            // The next push proves the insert; then another client changes the row before the edit is sent.
            let server = scenario.server
            server.onRequest { request in
                if request.method == "PATCH" {
                    _ = try? await server.update("x", ["text": "theirs"], in: Todo.name)
                }
                return .none
            }
            let error = try await a.expectPushError()
            server.onRequest(nil)
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert that meets a tombstone does not overwrite a change made after another client's undelete`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await scenario.server.remove("x", in: Todo.name)
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "ours"])
            let error = try await a.expectPushError()
            #expect(error.code == .itemAlreadyOnServer)
            #expect(error.serverItem?.system.deleted == true)
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            // Another client undeletes the row and changes it.
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            let second = try await a.expectPushError()
            #expect(second.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: second, with: try #require(second.item))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert with a lost answer and a conflict does not vanish when the item is deleted`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            await a.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            #expect(try await a.expectPushError().code == .itemAlreadyOnServer)
            try await a.table.delete(id: "x")
            // The delete stays a conflict in every push: it must not remove a change that the user has not seen.
            for _ in 0..<2 {
                let error = try await a.expectPushError()
                #expect(error.kind == .delete)
                #expect(error.serverItem?["text"] == "theirs")
            }
            #expect(try scenario.row("x")?.deleted == false)
            let error = try await a.expectPushError()
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert that meets a tombstone is sent again when the tombstone cannot be read`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await scenario.server.remove("x", in: Todo.name)
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.refusal(503), when: \.isPage)
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try await a.context.operationErrors().isEmpty)
            let error = try await a.expectPushError()
            #expect(error.serverItem?.system.deleted == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit after a lost answer does not overwrite another client's later change of the same field`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            let error = try await scenario.clashAfterLostResponse(a, sending: "ours")
            #expect(error.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.fields["priority"] == 2)
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 1)
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a parked delete can be discarded after the user has edited the item inserted behind it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.insert(["id": "x", "text": "two"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = await a.expectPushErrors()
            // The edit unparks the delete.
            try await a.table.update(id: "x", ["text": "three"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = await a.expectPushErrors()
            let error = try #require(try await a.context.operationErrors().first)
            #expect(error.kind == .delete)
            #expect(try await a.operations().map(\.state) == [.parked, .pending])
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["three"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changing a refused insert into a delete does not delete another client's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            try await a.context.changeKind(for: error, to: .delete)
            #expect(try await a.operations().isEmpty)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == false)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict replaces a tombstone that was pulled before the row was inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await scenario.push(a) { _ in
                try await a.pullWithoutPush()
                scenario.server.clock.advance(by: .seconds(1))
                try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
                try await a.table.update(id: "x", ["text": "ours, edited"])
            }
            let operation = try #require(try await a.operations().first)
            #expect(operation.serverItem?["text"] == "theirs")
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("x")?["text"] == "theirs")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that another client inserts after this one deleted it is pulled by a later pull`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(.hold(gate), when: \.isPage)
            let pull = Task { try await a.pullWithoutPush() }
            await gate.waitForArrivals()
            try await a.table.delete(id: "x")
            try await a.context.push()
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            scenario.server.clock.advance(by: .seconds(5))
            gate.open()
            _ = try await pull.value
            try await a.pullWithoutPush()
            #expect(try await a.item("x")?["text"] == "theirs")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a delete behind an undelete does not delete a change of the client that has undeleted the row before`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            try await scenario.server.remove("x", in: Todo.name)
            let conflict = try await a.expectPushError()
            // Nothing remains to be sent after the undelete.
            try await a.context.keepAndUpdateItem(
                for: conflict, with: Item(id: "x", fields: try #require(conflict.serverItem).fields))
            _ = try await scenario.push(a) { _ in
                try await a.table.delete(id: "x")
                try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            }
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try scenario.row("x")?.deleted == false)
        }
    }
}
