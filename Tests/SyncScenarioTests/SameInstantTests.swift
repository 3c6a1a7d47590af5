// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// States of one row that share an `updatedAt`, and pages that show an earlier state than the device has.
@Suite struct SameInstantTests {
    /// Runs the body with a server whose clock stands still, and with a device.
    private func run(on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            try await body(scenario, try scenario.device())
        }
    }

    /// Pulls without a token, and runs the body while the request for the first page is held.
    private func pull(
        _ a: Device, from scenario: Scenario, then fault: ServerFault = .none,
        during body: () async throws -> Void
    ) async throws -> PullResult {
        let gate = RequestGate()
        defer { gate.open() }
        scenario.server.inject(.hold(gate, then: fault), when: \.isPage)
        let pull = Task { try await a.context.pull(Todo.query, settings: .withoutPush) }
        await gate.waitForArrivals()
        try await body()
        gate.open()
        return try await pull.value
    }

    /// Pushes, and runs the body while the first such request is held.
    private func push(
        _ a: Device, to scenario: Scenario, then fault: ServerFault = .none,
        holding isHeld: @escaping @Sendable (RecordedRequest) -> Bool = \.isWrite,
        during body: () async throws -> Void
    ) async throws {
        let gate = RequestGate()
        defer { gate.open() }
        scenario.server.inject(.hold(gate, then: fault), when: isHeld)
        let push = Task { try await a.context.push() }
        await gate.waitForArrivals()
        try await body()
        gate.open()
        _ = try await push.value
    }

    /// Returns a fault that shows this text and this version in every row of a page.
    private func showing(_ text: String, version: String) -> ServerFault {
        .editFields { fields in
            fields["text"] = .text(text)
            fields["version"] = .text(version)
        }
    }

    /// Returns a response with the first state of the row `x`.
    private func response(_ status: Int, showing text: String) -> ServerFault {
        let row = """
            {"id":"x","text":"\(text)","version":"first","deleted":false,
            "createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:00.000Z"}
            """
        return .answer(
            status: status, headers: ["Content-Type": "application/json"], body: Data(row.utf8))
    }

    @Test(arguments: StoreKind.allCases)
    func `a pulled change is stored although a push stores an earlier state of the same instant`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await a.table.insert(["id": "x", "text": "ours"])
            let result = try await pull(a, from: scenario) {
                try await a.context.push()
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            }
            #expect(try await a.texts() == ["theirs"])
            #expect(result.received == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page does not take back a pushed change of the same instant`(_ kind: StoreKind) async throws {
        try await run(on: kind) { scenario, a in
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            let version = try #require(try scenario.row("x")).version
            try await a.table.update(id: "x", ["text": "two"])
            _ = try await pull(a, from: scenario, then: showing("one", version: version)) {
                try await a.context.push()
            }
            #expect(try await a.texts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an old page that is stored during a push does not take back a change of the same instant`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.inject(showing("zero", version: "earlier"), when: \.isPage)
            try await push(a, to: scenario) {
                let result = try await a.context.pull(Todo.query, settings: .withoutPush)
                #expect(result.skippedAsPending == 1)
            }
            #expect(try await a.texts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page does not take back the row that was fetched because no time orders two states`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            /// Returns a response with the row, or with a page that has it.
            func showing(_ text: String, second: Int, status: Int = 200, isPage: Bool = false) -> ServerFault
            {
                let row = """
                    {"id":"x","text":"\(text)","version":"\(text)","deleted":false,
                    "createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:0\(second).000Z"}
                    """
                return .answer(
                    status: status, headers: ["Content-Type": "application/json"],
                    body: Data((isPage ? "[\(row)]" : row).utf8))
            }
            try await a.table.insert(["id": "x", "text": "one"])
            let gate = RequestGate()
            defer { gate.open() }
            let server = scenario.server
            server.inject(showing("two", second: 0, isPage: true), when: \.isPage)
            server.inject(.hold(gate, then: showing("three", second: 1, isPage: true)), when: \.isPage)
            server.inject(
                showing("four", second: 2), when: { $0.itemID == "x" && $0.method == "GET" })
            let answer = showing("one", second: 0, status: 201)
            var pull: Task<PullResult, any Error>?
            try await push(a, to: scenario, then: answer) {
                pull = Task { try await a.context.pull(Todo.query, settings: .withoutPush) }
                await gate.waitForArrivals()
            }
            #expect(try await a.texts() == ["four"])
            gate.open()
            _ = try await pull?.value
            #expect(try await a.texts() == ["four"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an old page that is stored before a deletion is proven does not bring the row back`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, _ in
            var settings = SyncSettings()
            settings.retry.maxAttempts = 1
            let a = try scenario.device("B", settings: settings)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await #expect(throws: SyncError.self) { try await a.context.push() }
            try await a.table.delete(id: "x")
            let row = try #require(try scenario.row("x"))
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await #expect(throws: SyncError.self) { try await a.context.push() }
            let page = """
                [{"id":"x","text":"ours","version":"\(row.version)","deleted":false,
                "createdAt":"\(row.createdAt)","updatedAt":"\(row.updatedAt)"}]
                """
            scenario.server.inject(
                .answer(
                    status: 200, headers: ["Content-Type": "application/json"], body: Data(page.utf8)),
                when: \.isPage)
            try await push(a, to: scenario, holding: { $0.itemID == "x" && $0.method == "GET" }) {
                _ = try await a.context.pull(Todo.query, settings: .withoutPush)
            }
            #expect(try await a.texts().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    /// Pushes an insert whose response shows its first state after a change of the server is pulled.
    private func pushInsert(
        _ a: Device, to scenario: Scenario, pullingAfter change: (TableServer) async throws -> Void
    ) async throws {
        try await a.table.insert(["id": "x", "text": "ours"])
        try await push(a, to: scenario, then: response(201, showing: "ours")) {
            try await change(scenario.server)
            try await a.context.pull(Todo.query, settings: .withoutPush)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change pulled during an insert is not lost when the insert's response shows the same instant`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await pushInsert(a, to: scenario) { server in
                try await server.put("x", ["text": "theirs"], in: Todo.name)
            }
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `the server is asked again if a conflict and a pull during the attempt show two states of one instant`(
            _ kind: StoreKind
        ) async throws
    {
        try await run(on: kind) { scenario, a in
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            let gate = RequestGate()
            defer { gate.open() }
            scenario.server.inject(
                .hold(gate, then: response(409, showing: "theirs, earlier")), when: \.isWrite)
            let push = Task { try await a.expectPushError() }
            await gate.waitForArrivals()
            try await a.context.pull(Todo.query, settings: .withoutPush)
            gate.open()
            let error = try await push.value
            #expect(error.serverItem?["text"] == "theirs")
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page requested before a conflict does not replace the row that the conflict shows`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await a.table.update(id: "x", ["text": "ours"])
            scenario.server.clock.advance(by: .seconds(1))
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let old = showing("theirs, earlier", version: "earlier")
            _ = try await pull(a, from: scenario, then: old) {
                let error = try await a.expectPushError()
                #expect(error.serverItem?["text"] == "theirs")
            }
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.cancelAndUpdateItem(for: error, with: try #require(error.serverItem))
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that only a conflict has shown is pulled after the user has deleted the item`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await pull(a, from: scenario) {
                #expect(try await a.expectPushError().code == .itemAlreadyOnServer)
                try await a.table.delete(id: "x")
                #expect(try await a.operations().isEmpty)
            }
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an old page of a cache does not take back a pushed change`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            let first = try #require(try scenario.row("x"))
            try await a.table.update(id: "x", ["text": "two"])
            try await a.context.push()
            let (version, updatedAt) = (first.version, first.updatedAt)
            scenario.server.inject(
                .editFields { fields in
                    fields["text"] = "one"
                    fields["version"] = .text(version)
                    fields["updatedAt"] = .text("\(updatedAt)")
                }, when: \.isPage)
            let result = try await a.context.pull(Todo.query)
            #expect(result.unchanged == 1)
            #expect(try await a.texts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion in the instant of the insert, pulled during the insert, is not lost`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await pushInsert(a, to: scenario) { server in
                try await server.put("x", ["text": "ours"], in: Todo.name)
                try await server.remove("x", in: Todo.name)
            }
            #expect(try await a.texts().isEmpty)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the next operation waits while the server is asked again for the row`(_ kind: StoreKind)
        async throws
    {
        try await run(on: kind) { scenario, a in
            try await a.table.insert(["id": "x", "text": "ours"])
            try await a.table.insert(["id": "y", "text": "next"])
            let (write, read) = (RequestGate(), RequestGate())
            defer {
                write.open()
                read.open()
            }
            scenario.server.inject(
                .hold(write, then: response(409, showing: "ours")), when: \.isWrite)
            scenario.server.inject(.hold(read), when: { $0.itemID == "x" && $0.method == "GET" })
            let push = Task { try await a.expectPushError() }
            await write.waitForArrivals()
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.context.pull(Todo.query, settings: .withoutPush)
            write.open()
            await read.waitForArrivals()
            #expect(try await a.operations().map(\.state) == [.attempted, .pending])
            read.open()
            #expect(try await push.value.serverItem?["text"] == "theirs")
            #expect(try scenario.row("y")?.fields["text"] == "next")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row pulled after a conflict that shows no updatedAt is kept when the change is discarded`(
        _ kind: StoreKind
    ) async throws {
        try await run(on: kind) { scenario, a in
            try await a.table.insert(["id": "x", "text": "ours"])
            let row = #"{"id":"x","text":"theirs, earlier","version":"first","updatedAt":null}"#
            scenario.server.inject(
                .answer(
                    status: 409, headers: ["Content-Type": "application/json"], body: Data(row.utf8)),
                when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.serverItem?["text"] == "theirs, earlier")
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.context.pull(Todo.query, settings: .withoutPush)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [ServerFault.dropRequest, .refusal(401), .refusal(403), .refusal(503)])
    func
        `a confirmed insert is complete, although its row cannot be read after a pulled change of its instant`(
            _ kind: StoreKind, _ fault: ServerFault
        ) async throws
    {
        try await run(on: kind) { scenario, _ in
            let a = try scenario.device("B", settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(fault, when: { $0.itemID == "x" && $0.method == "GET" })
            try? await push(a, to: scenario, then: response(201, showing: "ours")) {
                try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
                try await a.context.pull(Todo.query, queryID: "all", settings: .withoutPush)
            }
            #expect(try await a.operations().isEmpty)
            #expect(try await a.texts() == ["theirs"])
            try await a.context.pull(Todo.query, queryID: "all")
            try await scenario.expectAgreement(a)
        }
    }
}
