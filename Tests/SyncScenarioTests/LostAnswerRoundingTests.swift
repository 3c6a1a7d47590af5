// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// The response is lost and the server rounds the sent values: the row still proves that it was applied.
@Suite struct LostAnswerRoundingTests {
    private static let sent: [String: ItemValue] = [
        "text": "one", "priority": .int((1 << 53) + 1), "price": -0.0,
        "due": Timestamp("2024-02-29T23:59:59.1234567Z").itemValue,
        "tags": ["a": 1.0, "b": nil, "c": [["d": nil, "e": -0.0]]],
    ]

    /// The values as stored by a server that has doubles only, removes nulls from objects and truncates dates.
    private static let stored: [String: ItemValue] = [
        "priority": .int(1 << 53), "price": 0, "due": "2024-02-29T23:59:59.123Z",
        "tags": ["a": 1, "c": [["e": 0]]],
    ]

    /// Pushes so that the write is applied, its response is lost, and the row is rounded.
    private func loseAnswer(_ scenario: Scenario, _ device: Device) async throws {
        await device.pushLosingResponse(of: scenario.server)
        try await scenario.server.update("x", Self.stored, in: Todo.name)
    }

    /// Expects that the device has the server's form of every value, and no pending operation.
    private func expectRoundedItem(_ scenario: Scenario, _ device: Device, text: ItemValue) async throws {
        let item = try #require(try await device.item("x"))
        var expected = Self.stored
        expected["text"] = text
        expected["price"] = 0.0
        expected["due"] = Timestamp("2024-02-29T23:59:59.123Z").itemValue
        #expect(item.fields == expected)
        #expect(try item.system.version == scenario.row("x")?.version)
        #expect(try await device.operations().isEmpty)
        #expect(try await device.context.operationErrors().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert whose values the server rounds does not conflict with itself`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(Self.sent.merging(["id": "x"]) { own, _ in own })
            try await loseAnswer(scenario, a)
            try await a.context.push()
            try await expectRoundedItem(scenario, a, text: "one")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update whose values the server rounds does not conflict with itself, and later edits are sent`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "zero"])
            try await a.context.push()
            try await a.table.update(id: "x", Self.sent)
            try await loseAnswer(scenario, a)
            try await a.table.update(id: "x", ["text": "later"])
            scenario.server.removeRequests()
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "later")
            let edit = try #require(scenario.writes().last)
            #expect(try ItemValue(json: edit.body) == ["id": "x", "text": "later"])
            try await expectRoundedItem(scenario, a, text: "later")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete after an insert whose values the server rounds causes no conflict`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(Self.sent.merging(["id": "x"]) { own, _ in own })
            try await loseAnswer(scenario, a)
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a difference greater than the server's precision is another client's change`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(Self.sent.merging(["id": "x"]) { own, _ in own })
            try await loseAnswer(scenario, a)
            try await scenario.server.update("x", ["due": "2024-02-29T23:59:59.125Z"], in: Todo.name)
            #expect(try await a.expectPushError().isConflict)
        }
    }
}
