// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A 500 with a JSON error can be caused by the operation or by the service; other operations show which.
@Suite struct ServerErrorTests {
    private func device(_ scenario: Scenario, parkAfter limit: Int = 10) throws -> Device {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = limit
        return try scenario.device(settings: settings)
    }

    @Test(arguments: StoreKind.allCases)
    func `a server error counts as a refusal only when another write of the push succeeds`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario, parkAfter: 2)
            scenario.failPoisonedRequests()
            try await a.table.insert(["id": "poison"])
            for _ in 0..<5 { #expect(try await a.expectPushError().status == 500) }
            #expect(try await a.operations().map(\.state) == [.attempted])
            for number in 1...2 {
                try await a.table.insert(["id": .text("fine-\(number)")])
                _ = try await a.expectPushError()
            }
            #expect(try await a.operations().map(\.state) == [.parked])
            // Every push reports a parked operation.
            #expect(try await a.expectPushError().itemID == "poison")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a damaged response to a write does not count as a refusal`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario, parkAfter: 2)
            scenario.server.onRequest { request in
                let isPoisoned = String(decoding: request.body, as: UTF8.self).contains("poison")
                return isPoisoned ? .applyThenAnswer(status: 201, body: Data("{\"id\":".utf8)) : .none
            }
            try await a.table.insert(["id": "poison"])
            for number in 0..<3 {
                try await a.table.insert(["id": .text("fine-\(number)")])
                _ = try await a.expectPushError()
            }
            #expect(try await a.operations().map(\.state) == [.attempted])
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `three server errors in a row end the push`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            for index in 0..<10 { try await a.table.insert(["id": .text("item-\(index)")]) }
            scenario.server.onRequest { _ in .refusal(500) }
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(scenario.server.requests.count == 3)
            #expect(error?.pushResult?.errors.map(\.itemID) == ["item-0", "item-1", "item-2"])
            scenario.server.onRequest(nil)
            #expect(try await a.context.push().completed == 10)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `operations that always cause a server error do not block those behind them`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario, parkAfter: 2)
            for index in 0..<7 { try await a.table.insert(["id": .text("poison-\(index)")]) }
            try await a.table.insert(["id": "fine"])
            scenario.failPoisonedRequests()
            for _ in 0..<4 { _ = try? await a.context.push() }
            #expect(try scenario.row("fine") != nil)
            // Each push with a successful write counts its server errors as refusals.
            for index in 0..<9 {
                try await a.table.insert(["id": .text("more-\(index)")])
                _ = try? await a.context.push()
            }
            let states = try await a.operations().map(\.state)
            #expect(states == Array(repeating: .parked, count: 7))
            #expect(try await a.context.status().parkedOperations == 7)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `parents that always cause a server error do not block the children of others`(
        _ kind: StoreKind
    ) async throws {
        let tables = [
            SyncTableDefinition("List", columns: [SyncColumn("text", .text)]),
            SyncTableDefinition("Item", columns: [SyncColumn("list", .text)], parents: ["List"]),
        ]
        try await Scenario.run(on: kind, configure: { $0.tables += [.init("List"), .init("Item")] }) {
            scenario in
            let a = try scenario.device(settings: .singleAttempt, tables: tables)
            let (lists, items) = (a.context.table("List"), a.context.table("Item"))
            try await lists.insert(["id": "food"])
            try await a.context.push()
            for index in 0..<3 { try await lists.insert(["id": .text("poison-\(index)")]) }
            scenario.failPoisonedRequests()
            await expectError(.pushAbortedService) { try await a.context.push() }
            await expectError(.pushAbortedService) { try await a.context.push() }
            try await items.insert(["id": "milk", "list": "food"])
            #expect(await a.expectPushErrors().count == 3)
            #expect(try scenario.server.row("milk", in: "Item") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the error contains the server's message`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            try await a.table.insert(["id": "x"])
            scenario.server.inject(.refusal(500, "column too long"))
            let error = try await a.expectPushError()
            #expect(error.message.contains("status 500"))
            #expect(error.message.contains("column too long"))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a 500 is not counted when the other operation of the push needed no request`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await scenario.server.remove("x", in: Todo.name)
            // The response leaves open whether the row of the deleted item exists; the pulled tombstone decides it.
            try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await scenario.push(a, then: .refusal(500)) { _ in try await a.table.delete(id: "x") }
            try await a.pullWithoutPush()
            try await a.table.insert(["id": "y", "text": "one"])
            scenario.server.removeRequests()
            scenario.server.onRequest { _ in .refusal(500) }
            #expect(try await a.expectPushError().itemID == "y")
            #expect(Set(scenario.server.requests.compactMap(\.itemID)).isSubset(of: ["y"]))
            #expect(try await a.operations().map(\.refusals) == [0])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a 500 is not counted beside a delete of a row that the server does not have`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try device(scenario, parkAfter: 1)
            try await scenario.server.put("gone", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("gone", in: Todo.name)
            scenario.failPoisonedRequests()
            try await a.table.delete(id: "gone")
            try await a.table.insert(["id": "poison"])
            #expect(try await a.expectPushError().status == 500)
            #expect(try await a.operations().map(\.state) == [.attempted])
        }
    }

    /// The row still has the version that the request named: the server has another reason, such as a column whose values must
    /// be unique.
    @Test(arguments: StoreKind.allCases, [ConflictResolver.serverWins, .clientWins])
    func `a 409 about an unchanged row is a refusal, and no conflict`(
        _ kind: StoreKind, _ resolver: ConflictResolver
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = resolver
            settings.parkAfterRefusals = 2
            let a = try scenario.device(settings: settings)
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            try await a.table.delete(id: "y")
            scenario.server.onRequest { $0.isWrite ? .refusal(409, "the text is not unique") : .none }
            for _ in 0..<2 {
                let errors = await a.expectPushErrors()
                #expect(errors.map(\.code) == [.serverError, .serverError])
                #expect(errors.map(\.message) == ["the text is not unique", "the text is not unique"])
            }
            #expect(try await a.context.status().parkedOperations == 2)
            #expect(try await a.item("x")?["text"] == "two")
            #expect(try await a.item("y") == nil)
            scenario.server.onRequest(nil)
            try await a.context.replayParkedOperations()
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    /// The row shows that the server has applied no attempt, so the correction need not wait for a proof.
    @Test(arguments: StoreKind.allCases, [404, 409, 412])
    func `a correction is sent after a lost request and a refusal that shows the unchanged row`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "taken"])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.onRequest { request in
                let isTaken = String(decoding: request.body, as: UTF8.self).contains("taken")
                return request.isWrite && isTaken ? .refusal(status, "taken") : .none
            }
            #expect(try await a.expectPushError().code == .serverError)
            try await a.table.update(id: "x", ["text": "free"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["free"])
            try await scenario.expectAgreement(a)
        }
    }
}
