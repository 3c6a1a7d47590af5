// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A push resolves an attempt with unknown outcome before it sends other operations.
@Suite struct UnknownOutcomeTests {
    private func device(_ scenario: Scenario) throws -> Device {
        try scenario.device(settings: .singleAttempt)
    }

    @Test(arguments: StoreKind.allCases)
    func `edits after an attempt with unknown outcome are sent before the next operation`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.update(id: "x", ["text": "two"])
            for index in 0..<5 { try await a.table.insert(["id": .text("y\(index)")]) }
            scenario.server.removeRequests()
            try await a.context.push()
            // The retried insert, the edit, then the other operations.
            let writes = scenario.writes().map { $0.method + " " + ($0.itemID ?? "") }
            #expect(writes == ["POST ", "PATCH x"] + Array(repeating: "POST ", count: 5))
            try await scenario.expectAgreement(a)
        }
    }

    /// The insert was not applied, and the row with its id is another client's.
    @Test(arguments: StoreKind.allCases)
    func `a delete after an insert with unknown outcome reads the row before it deletes it`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            try await a.table.insert(["id": "x", "text": "mine"])
            scenario.server.inject(.dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.delete(id: "x")
            scenario.server.removeRequests()
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            #expect(scenario.server.requests.map(\.method) == ["GET"])
            #expect(try scenario.row("x")?.deleted == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a response with a value that does not fit its column completes the operation`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "priority": .int(.max)])
            let body = #"{"id":"x","text":"one","priority":9223372036854776000,"version":"djE="}"#
            scenario.server.inject(.applyThenAnswer(status: 201, body: Data(body.utf8)))
            #expect(try await a.context.push().completed == 1)
            #expect(try await a.item("x")?["priority"] == .int(.max))
            #expect(try await a.item("x")?.system.version == "djE=")
            #expect(try await a.operations().isEmpty)
        }
    }
}
