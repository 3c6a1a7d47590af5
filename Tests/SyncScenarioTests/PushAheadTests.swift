// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// The next operations are marked in the store while a request is on its way: nobody notices but for the time it takes.
@Suite(.timeLimit(.minutes(5))) struct PushAheadTests {
    private static let oneTry = {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        return settings
    }()

    /// Inserts so many items, pushes, and runs the body when the first request hangs at the server and so many
    /// operations are marked as attempted.
    private func push(
        _ device: Device, _ scenario: Scenario, inserts: Int, marked: Int, then fault: ServerFault,
        while body: () async throws -> Void = {}
    ) async throws -> Result<PushResult, any Error> {
        for number in 0..<inserts {
            try await device.table.insert(["id": .text("\(number)"), "text": "new"])
        }
        let gate = RequestGate()
        scenario.server.inject(.hold(gate, then: fault), when: \.isWrite)
        let context = device.context
        let push = Task { try await context.push() }
        await gate.waitForArrivals()
        while try await device.operations().filter({ $0.state == .attempted }).count < marked {
            await Task.yield()
        }
        #expect(scenario.writes().count == 1)
        try await body()
        gate.open()
        return await push.result
    }

    @Test(arguments: StoreKind.allCases)
    func `with one operation at a time the server never has two, and gets them in order`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let transport = CountingTransport(URLSessionTransport())
            let a = try scenario.device(transport: transport)
            for number in 0..<60 { try await a.table.insert(["id": .text("\(number)")]) }
            try await a.context.push()
            #expect(transport.most == 1)
            let bodies = try scenario.writes().map { try ItemValue(json: $0.body) }
            #expect(bodies == (0..<60).map { ["id": .text("\($0)")] })
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `with three at a time the server never has four`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.maxConcurrentOperations = 3
            let transport = CountingTransport(URLSessionTransport())
            let a = try scenario.device(settings: settings, transport: transport)
            for number in 0..<60 { try await a.table.insert(["id": .text("\(number)")]) }
            try await a.context.push()
            #expect(transport.most == 3)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what was marked and not sent is pending again when the network fails`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.oneTry)
            let result = try await push(a, scenario, inserts: 4, marked: 2, then: .dropRequest)
            #expect(throws: SyncError.self) { try result.get() }
            let operations = try await a.operations()
            #expect(operations.map(\.state) == [.attempted, .pending, .pending, .pending])
            #expect(operations.map(\.attempts) == [0, 0, 0, 0])
            #expect(operations.map { $0.sent == nil } == [false, true, true, true])
            #expect(scenario.writes().count == 1)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what was marked and not sent is pending again when the server asks to sign in`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let result = try await push(a, scenario, inserts: 3, marked: 2, then: .refusal(401))
            #expect(throws: SyncError.self) { try result.get() }
            #expect(try await a.operations().map(\.state) == [.pending, .pending, .pending])
            #expect(scenario.writes().count == 1)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of an operation that is marked and not sent rejoins it when the push ends`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.oneTry)
            let result = try await push(a, scenario, inserts: 3, marked: 2, then: .dropRequest) {
                try await a.table.update(id: "1", ["text": "edited"])
            }
            #expect(throws: SyncError.self) { try result.get() }
            #expect(try await a.operations().map(\.kind) == [.insert, .insert, .insert])
            try await a.sync()
            #expect(scenario.writes().filter { $0.method == "PATCH" }.isEmpty)
            #expect(try scenario.row("1")?.fields["text"] == "edited")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `edits and deletes of operations that are marked and not sent follow them`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let result = try await push(a, scenario, inserts: 2, marked: 2, then: .none) {
                try await a.table.update(id: "1", ["text": "edited"])
                try await a.table.delete(id: "0")
                try await a.table.insert(["id": "2", "text": "late"])
            }
            #expect(try result.get().completed == 5)
            #expect(scenario.writes().map(\.method) == ["POST", "POST", "PATCH", "DELETE", "POST"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that fails does not hold up the one that is marked behind it`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let result = try await push(a, scenario, inserts: 3, marked: 2, then: .refusal(400))
            let error = await expectError(.pushCompletedWithErrors) { _ = try result.get() }
            #expect(error?.pushResult?.completed == 2)
            #expect(try await a.operations().map(\.itemID) == ["0"])
            #expect(scenario.writes().map(\.status) == [400, 201, 201])
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a cancelled push sends nothing of what was marked ahead`(
        _ kind: StoreKind, _ isAnsweredAllTheSame: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let session = URLSessionTransport()
            let a = try scenario.device(
                transport: isAnsweredAllTheSame ? StubbornTransport(session) : session)
            for number in 0..<3 { try await a.table.insert(["id": .text("\(number)")]) }
            let gate = RequestGate()
            scenario.server.inject(.hold(gate), when: \.isWrite)
            let push = Task { try await a.context.push() }
            await gate.waitForArrivals()
            while try await a.operations().filter({ $0.state == .attempted }).count < 2 { await Task.yield() }
            push.cancel()
            if isAnsweredAllTheSame { gate.open() }
            await #expect(throws: CancellationError.self) { try await push.value }
            gate.open()
            #expect(scenario.writes().count == 1)
            let states = try await a.operations().map(\.state)
            #expect(states == (isAnsweredAllTheSame ? [] : [.attempted]) + [.pending, .pending])
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }
}

/// Goes on with a request although nobody waits for it any more.
private struct StubbornTransport: HTTPTransport {
    private let base: any HTTPTransport

    init(_ base: any HTTPTransport) { self.base = base }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await Task { try await base.send(request) }.value
    }
}

/// Counts how many requests are on their way.
private final class CountingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let counts = Mutex((now: 0, most: 0))

    init(_ base: any HTTPTransport) { self.base = base }

    /// The largest number of requests at one time.
    var most: Int { counts.withLock { $0.most } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { counts.withLock { $0.now -= 1 } }
        return try await base.send(request)
    }
}
