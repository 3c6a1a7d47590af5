// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Decisions and corrections after an attempt whose outcome is unknown.
@Suite struct UnknownOutcomeDecisionTests {
    /// What the insert has sent is the state that both sides have changed.
    @Test(arguments: [ConflictResolver.serverWins, .clientWins])
    func `an edit after a lost response to an insert is merged with another client's`(
        _ rule: ConflictResolver
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.resolver = .fieldMerge(onClash: rule)
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "Milk", "complete": false])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.update(id: "x", ["complete": true])
            try await scenario.server.update("x", ["text": "Oat milk"], in: Todo.name)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["Oat milk"])
            #expect(try scenario.server.row("x", in: Todo.name)?.fields["complete"] == true)
            try await scenario.expectAgreement(a)
        }
    }

    /// Runs the body with a device whose delete of row `x` got no confirmation.
    ///
    /// - Parameters:
    ///   - fault: what happens to the delete.
    ///   - body: receives the error of the delete.
    private func unconfirmedDelete(
        on kind: StoreKind, _ fault: ServerFault, softDelete: Bool,
        _ body: (Scenario, Device, TableOperationError) async throws -> Void
    ) async throws {
        try await Scenario.run(
            on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: softDelete)] }
        ) {
            scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.delete(id: "x")
            scenario.server.inject(fault)
            try await body(scenario, a, try await a.expectPushError())
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a delete that was applied and is changed into an update is a conflict, not a success`(
        _ kind: StoreKind, _ softDelete: Bool
    ) async throws {
        try await unconfirmedDelete(on: kind, .refusalAfterCommit(500), softDelete: softDelete) {
            scenario, a, error in
            try await a.context.changeKind(for: error, to: .update)
            let conflict = try await a.expectPushError()
            #expect(conflict.isConflict)
            try await a.context.keepAndUpdateItem(for: conflict, with: try #require(conflict.item))
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == false)
            #expect(try scenario.row("x")?.fields["text"] == "one")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete that was not applied and is changed into an update is undone`(
        _ kind: StoreKind
    ) async throws {
        try await unconfirmedDelete(on: kind, .refusal(500), softDelete: true) { scenario, a, error in
            try await a.context.changeKind(for: error, to: .update)
            // The response to the update is lost too.
            scenario.server.inject(.dropAnswer, when: { $0.method == "PATCH" })
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "one")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that is deleted during its update is restored with the values of the response`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.onRequest { request in
                guard request.method == "PATCH" else { return .none }
                try? await a.table.delete(id: "x")
                let body = #"{"id":"x","text":"two","priority":9,"version":"v9"}"#
                return .answer(status: 200, headers: ["ETag": "\"v9\""], body: Data(body.utf8))
            }
            scenario.server.inject(.refusal(400), when: { $0.method == "DELETE" })
            let error = try await a.expectPushError()
            #expect(error.kind == .delete)
            try await a.context.changeKind(for: error, to: .update)
            #expect(try await a.item("x")?["priority"] == 9)
            #expect(try await a.item("x")?.system.version == "v9")
            // Nothing is left to be sent.
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that a lost request has undeleted is deleted without a conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            try await scenario.server.remove("x", in: Todo.name)
            let error = try await a.expectPushError()
            try await a.context.changeKind(for: error, to: .update)
            scenario.server.inject(.dropAnswer, when: { $0.method == "POST" })
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused insert without fields that is changed into an update stays pending`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x"])
            scenario.server.inject(.refusal(400))
            let refused = try await a.expectPushError()
            try await a.context.changeKind(for: refused, to: .update)
            let error = try await a.expectPushError()
            #expect(error.code == .itemNotOnServer)
            try await a.context.changeKind(for: error, to: .insert)
            try await a.context.push()
            #expect(try scenario.row("x") != nil)
        }
    }

    // MARK: Refused and failed requests

    /// The server fails for the item, as some do for values that they do not support.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `an item that the server fails for is sent as the user has corrected it`(
        _ kind: StoreKind, _ isDecision: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            scenario.refuse("too long", status: 500)
            try await a.table.insert(["id": "x", "text": "too long"])
            let error = try await a.expectPushError()
            if isDecision {
                try await a.context.keepAndUpdateItem(
                    for: error, with: Item(id: "x", fields: ["text": "short"]))
            } else {
                try await a.table.update(id: "x", ["text": "short"])
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "short")
            try await scenario.expectAgreement(a)
        }
    }

    /// The first request gets no response, and the second one is refused.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `an insert that is refused when it is repeated is sent as the user has corrected it`(
        _ kind: StoreKind, _ isApplied: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "too long", "priority": 1])
            scenario.server.inject(isApplied ? .dropAnswer : .dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.inject(.refusal(400))
            let error = try await a.expectPushError()
            scenario.refuse("too long")
            try await a.context.keepAndUpdateItem(
                for: error, with: Item(id: "x", fields: ["text": "short", "priority": 1]))
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "short", "priority": 1])
            try await scenario.expectAgreement(a)
        }
    }

    /// Another row has the value, which must be unique.
    @Test(arguments: [409, 412], [true, false])
    func
        `an insert in conflict without a row is sent as the user has corrected it, also after a lost request`(
            _ status: Int, _ isDecision: Bool
        ) async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "taken"])
            scenario.server.inject(.dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.refuse("taken", status: status)
            let error = try await a.expectPushError()
            #expect(error.status == status && error.serverItem == nil)
            if isDecision {
                try await a.context.keepAndUpdateItem(
                    for: error, with: Item(id: "x", fields: ["text": "free"]))
            } else {
                try await a.table.update(id: "x", ["text": "free"])
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "free")
            try await scenario.expectAgreement(a)
        }
    }

    /// A new insert would end its unknown outcome, so that deleting the item would not delete the row.
    @Test(arguments: StoreKind.allCases)
    func `a refused insert whose row another device has changed is a conflict once it is corrected`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device(settings: .singleAttempt), try scenario.device("B"))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await b.table.pull(b.table.query)
            try await b.table.update(id: "x", ["text": "two"])
            try await b.context.push()
            scenario.server.onRequest { $0.method == "POST" ? .refusal(413) : .none }
            try await a.table.update(id: "x", ["text": "three"])
            #expect(try await a.expectPushError().status == 413)
            let conflict = try await a.expectPushError()
            #expect(conflict.code == .itemAlreadyOnServer)
            #expect(conflict.serverItem?["text"] == "two")
            try await a.context.keepAndUpdateItem(for: conflict, with: try #require(conflict.item))
            try await a.table.delete(id: "x")
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted != false)
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `an update that is refused when it is repeated is sent as the user has corrected it`(
        _ kind: StoreKind, _ isApplied: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "too long"])
            scenario.server.inject(isApplied ? .dropAnswer : .dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.inject(.refusal(422))
            _ = try await a.expectPushError()
            scenario.refuse("too long")
            try await a.table.update(id: "x", ["text": "short"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "short", "priority": 1])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused update that the user takes back is complete without a write`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "too long"])
            scenario.server.inject(.dropRequest)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.inject(.refusal(413))
            _ = try await a.expectPushError()
            try await a.table.update(id: "x", ["text": "one"])
            scenario.server.removeRequests()
            try await a.context.push()
            #expect(scenario.writes().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an attempt that is refused when it is repeated, and not corrected, is repeated`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.inject(.refusal(400))
            _ = try await a.expectPushError()
            scenario.server.removeRequests()
            try await a.context.push()
            #expect(scenario.writes().map(\.method) == ["POST"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault.dropRequest, .refusal(503)])
    func `an item is sent as the user has corrected it, also after its row could not be read`(
        _ kind: StoreKind, _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            scenario.refuse("too long", status: 500)
            try await a.table.insert(["id": "x", "text": "too long"])
            _ = try await a.expectPushError()
            try await a.table.update(id: "x", ["text": "short"])
            scenario.server.inject(fault, when: { $0.method == "GET" })
            await #expect(throws: SyncError.self) { try await a.context.push() }
            scenario.server.removeRequests()
            try await a.context.push()
            #expect(scenario.writes().count == 1)
            #expect(try scenario.row("x")?.fields["text"] == "short")
            try await scenario.expectAgreement(a)
        }
    }
}

extension Scenario {
    /// Refuses every write whose body has the text.
    fileprivate func refuse(_ text: String, status: Int = 400) {
        server.onRequest { request in
            String(decoding: request.body, as: UTF8.self).contains(text) ? .refusal(status) : .none
        }
    }
}
