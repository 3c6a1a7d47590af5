// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Edits of items whose operations are in flight.
@Suite struct InFlightEditTests {
    /// Pushes and expects success: see ``Scenario/push(_:budget:then:while:)``.
    private func push(
        _ device: Device, _ scenario: Scenario, then fault: ServerFault = .none,
        while body: () async throws -> Void
    ) async throws {
        _ = try await scenario.push(device, then: fault) { _ in try await body() }.get()
    }

    @Test(arguments: StoreKind.allCases)
    func `edits during an insert are kept and sent as one update`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await push(a, scenario) {
                try await a.table.update(id: "x", ["text": "two"])
                try await a.table.update(id: "x", ["text": "three"])
                #expect(try await a.operations().map(\.kind) == [.insert, .update])
            }
            #expect(scenario.writes().map(\.method) == ["POST", "PATCH"])
            #expect(try scenario.row("x")?.fields["text"] == "three")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit during an update is kept and sent with the new version`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            try await push(a, scenario) { try await a.table.update(id: "x", ["text": "three"]) }
            let patches = scenario.writes().filter { $0.method == "PATCH" }
            #expect(patches.map(\.status) == [200, 200])
            #expect(patches.map { $0.header("If-Match") } == ["\"MQ==\"", "\"Mg==\""])
            try await scenario.expectAgreement(a)
            #expect(try await a.texts() == ["three"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy read before the device's own push can be saved afterwards without a conflict`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            var copy = try #require(try await a.item("x"))
            for text in ["two", "three"] {
                try await a.table.update(id: "x", ["text": .text(text)])
                try await a.context.push()
            }
            copy["text"] = "four"
            try await a.table.replace(copy)
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "four")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy read before another client's change is a conflict`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            var copy = try #require(try await a.item("x"))
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.sync()
            copy["text"] = "ours"
            try await a.table.replace(copy)
            #expect(try await a.expectPushError().serverItem?["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete during an insert deletes the inserted row`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await push(a, scenario) { try await a.table.delete(id: "x") }
            #expect(scenario.writes().map(\.method) == ["POST", "DELETE"])
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault.none, .dropAnswer])
    func `an insert during the delete of its item replaces the row, and is no conflict`(
        _ kind: StoreKind, _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            try await push(a, scenario, then: fault) {
                try await a.table.insert(["id": "x", "text": "two"])
            }
            try await a.sync()
            #expect(try await a.item("x")?["text"] == "two")
            #expect(try scenario.row("x")?.deleted == false)
            #expect((try scenario.row("x")?.fields["priority"] ?? .null).isNull)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert behind a delete replaces the tombstone also after a refusal and a correction`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            _ = try await scenario.push(a, budget: PushBudget(operations: 1)) { _ in
                try await a.table.insert(["id": "x", "text": "wrong"])
            }
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            var item = try #require(error.item)
            item["text"] = "right"
            try await a.context.keepAndUpdateItem(for: error, with: item)
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == false)
            #expect(try scenario.row("x")?.fields["text"] == "right")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of an insert behind a delete sends only what it changes, once the insert is proven`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) {
            $0.tables = [.init(Todo.name, softDelete: false)]
        } _: { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            _ = try await scenario.push(a, budget: PushBudget(operations: 1)) { _ in
                try await a.table.insert(["id": "x", "text": "two", "priority": 1])
            }
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.update(id: "x", ["text": "three"])
            scenario.server.removeRequests()
            try await a.context.push()
            let body = try #require(scenario.writes().last { $0.method == "PATCH" }?.body)
            #expect(String(decoding: body, as: UTF8.self) == #"{"id":"x","text":"three"}"#)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit during an update that is sent twice is no conflict with a value that the server computes`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "none"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "one"])
            // The first request is lost. The server applies the second one and changes the text.
            try await push(a, scenario, then: .dropRequest) {
                try await a.table.update(id: "x", ["text": "two"])
                let row = try await scenario.server.update("x", ["text": "ONE"], in: Todo.name)
                let response = """
                    {"id":"x","text":"ONE","version":"\(row.version)","deleted":false,
                    "createdAt":"\(row.createdAt)","updatedAt":"\(row.updatedAt)"}
                    """
                scenario.server.inject(
                    .answer(
                        status: 200, headers: ["Content-Type": "application/json"], body: Data(response.utf8)),
                    when: \.isWrite)
            }
            #expect(try scenario.row("x")?.fields["text"] == "two")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete during an update of a row that the server no longer has is complete`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            try await push(a, scenario) { try await a.table.delete(id: "x") }
            #expect(try await a.operations().isEmpty)
            #expect(try await a.context.operationErrors().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete during a refused insert leaves no operation`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await push(a, scenario, then: .refusal(400)) { try await a.table.delete(id: "x") }
            #expect(scenario.writes().map(\.method) == ["POST"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete and a new insert during an update replace the row`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            try await push(a, scenario) {
                try await a.table.delete(id: "x")
                try await a.table.insert(["id": "x", "text": "new"])
                #expect(try await a.operations().count == 2)
            }
            #expect(try scenario.row("x")?.fields["text"] == "new")
            #expect(try scenario.row("x")?.fields["priority"] == .null)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit during a failing update is merged into it`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            let gate = RequestGate()
            scenario.server.inject(.hold(gate, then: .refusal(400)), when: \.isWrite)
            async let errors = a.expectPushErrors()
            await gate.waitForArrivals()
            try await a.table.update(id: "x", ["text": "three"])
            gate.open()
            let error = try #require(await errors.first)
            let operation = try #require(try await a.operations().first)
            #expect(try await a.operations().count == 1)
            #expect(error.revision == operation.revision)
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "three")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `values computed by the server are stored unless the user changed the field during the request`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.onRequest { request in
                guard request.method == "PATCH" else { return .none }
                _ = try? await a.table.update(id: "x", ["complete": true])
                scenario.server.onRequest(nil)
                let body = #"{"id":"x","text":"two","priority":9,"complete":false,"version":"v9"}"#
                return .answer(status: 200, headers: ["ETag": "\"v9\""], body: Data(body.utf8))
            }
            scenario.server.inject(.refusal(400), when: { $0.header("If-Match") == "\"v9\"" })
            _ = await a.expectPushErrors()
            let item = try #require(try await a.item("x"))
            #expect(item["priority"] == 9)
            #expect(item["complete"] == true)
            #expect(try await a.operations().map(\.version) == ["v9"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `edits during many failing pushes leave device and server equal`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let random = SharedRandomGenerator(seed: 5)
            scenario.server.onRequest { request in
                guard request.isWrite else { return .none }
                let id = "row-\(random.next() % 4)"
                switch random.next() % 3 {
                case 0: _ = try? await a.table.insert(["id": .text(id), "text": "new"])
                case 1: _ = try? await a.table.update(id: id, ["text": .text("\(random.next() % 100)")])
                default: break
                }
                return [ServerFault.none, .dropAnswer, .dropRequest, .refusalAfterCommit(500)][
                    Int(random.next() % 4)]
            }
            for step in 0..<40 {
                _ = try? await a.table.insert(["id": .text("row-\(step % 4)"), "text": "start"])
                _ = try? await a.context.push()
            }
            scenario.server.onRequest(nil)
            scenario.server.removeFaults()
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `local reads and writes do not wait for a push in progress`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await push(a, scenario) {
                for number in 0..<20 { try await a.table.insert(["text": .text("\(number)")]) }
                #expect(try await a.table.items().count == 21)
            }
            #expect(try scenario.server.rows(in: Todo.name).count == 21)
        }
    }
}
