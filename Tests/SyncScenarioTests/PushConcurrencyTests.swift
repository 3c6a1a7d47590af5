// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Operations start in the order of the queue, and are unchanged until they start.
@Suite struct PushConcurrencyTests {
    private static func settings(concurrency: Int = 1) -> SyncSettings {
        var settings = SyncSettings.singleAttempt
        settings.maxConcurrentOperations = concurrency
        return settings
    }

    private func insert(_ count: Int, _ device: Device) async throws {
        for number in 0..<count {
            try await device.table.insert(["id": .text("\(number)"), "text": "new"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `with one concurrent operation, requests are sent one at a time and in order`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let transport = ConcurrencyCountingTransport(.patient)
            let a = try scenario.device(transport: transport)
            for number in 0..<60 { try await a.table.insert(["id": .text("\(number)")]) }
            try await a.context.push()
            #expect(transport.maximum == 1)
            let bodies = try scenario.writes().map { try ItemValue(json: $0.body) }
            #expect(bodies == (0..<60).map { ["id": .text("\($0)")] })
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `with three concurrent operations, at most three requests are in flight`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.maxConcurrentOperations = 3
            let transport = ConcurrencyCountingTransport(.patient)
            let a = try scenario.device(settings: settings, transport: transport)
            for number in 0..<60 { try await a.table.insert(["id": .text("\(number)")]) }
            try await a.context.push()
            #expect(transport.maximum == 3)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault.dropRequest, .refusal(401)])
    func `operations not yet started are unchanged when a push ends early`(
        _ kind: StoreKind, _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.settings())
            try await insert(4, a)
            let waiting = try await a.waitingOperations()
            let result = try await scenario.push(a, then: fault) { _ in
                // The next one may be marked ahead of its turn.
                let now = try await a.waitingOperations()
                #expect(now.dropFirst() == waiting.dropFirst())
            }
            #expect(throws: SyncError.self) { _ = try result.get() }
            #expect(try await a.waitingOperations() == waiting)
            #expect(scenario.writes().count == 1)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a cancelled push starts no further operation, also when its request still succeeds`(
        _ kind: StoreKind, _ isAnswered: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let session: URLSessionTransport = .patient
            let a = try scenario.device(transport: isAnswered ? UncancellableTransport(session) : session)
            try await insert(3, a)
            let waiting = try await a.waitingOperations()
            let result = try await scenario.push(a) { push in
                push.cancel()
                if !isAnswered { _ = await push.result }
            }
            #expect(throws: CancellationError.self) { _ = try result.get() }
            #expect(scenario.writes().count == 1)
            let operations = try await a.operations()
            #expect(operations.count == (isAnswered ? 2 : 3))
            #expect(Array(operations.suffix(2)) == waiting)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a service that is away ends the push as that, also after server errors of other operations`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let gate = RequestGate()
            let errorCount = Mutex(0)
            var settings = Self.settings(concurrency: 4)
            settings.onEvent = { event in
                guard case .request(let request) = event, request.status == 500 else { return }
                let count = errorCount.withLock { count in
                    count += 1
                    return count
                }
                if count == 3 { gate.open() }
            }
            let a = try scenario.device(settings: settings)
            try await insert(4, a)
            scenario.server.onRequest { request in
                guard String(decoding: request.body, as: UTF8.self).contains(#""id":"3""#) else {
                    return .refusal(500)
                }
                return .hold(gate, then: .answer(status: 503, headers: ["Retry-After": "60"]))
            }
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(error?.retryAfter == .seconds(60))
            #expect(error?.pushResult?.errors.map(\.itemID).sorted() == ["0", "1", "2"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changes of items with waiting operations are collapsed into them`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await insert(3, a)
            let result = try await scenario.push(a) { _ in
                try await a.table.update(id: "1", ["text": "edited"])
                try await a.table.delete(id: "2")
                try await a.table.insert(["id": "3", "text": "late"])
            }
            #expect(try result.get().completed == 3)
            #expect(scenario.writes().map(\.method) == ["POST", "POST", "POST"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row pulled while an operation waits is used when the operation starts`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.settings())
            // The response has no version: only the pulled row shows the change of another client.
            let body = Data(#"{"id":"x","text":"one"}"#.utf8)
            scenario.server.inject(.applyThenAnswer(status: 201, headers: [:], body: body), when: \.isWrite)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await insert(1, a)
            try await a.table.update(id: "x", ["text": "ours"])
            let result = try await scenario.push(a) { _ in
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
                try await a.pullWithoutPush()
            }
            #expect(throws: SyncError.self) { _ = try result.get() }
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row pulled and hard-deleted while its delete waits is not restored`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [Todo.text])
            let a = try scenario.device(settings: Self.settings(), tables: [Todo.definition, other])
            let table = a.context.table("Other")
            try await table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await insert(1, a)
            try await table.delete(id: "x")
            let result = try await scenario.push(a) { _ in
                try await scenario.server.update("x", ["text": "theirs"], in: "Other")
                try await a.context.pull(TableQuery("Other"), queryID: "o", settings: .withoutPush)
                try await scenario.server.remove("x", in: "Other", leavingTombstone: false)
            }
            #expect(try result.get().completed == 2)
            #expect(try await table.item(id: "x") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed operation does not block the operations behind it`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await insert(3, a)
            let result = try await scenario.push(a, then: .refusal(400))
            let error = await expectError(.pushCompletedWithErrors) { _ = try result.get() }
            #expect(error?.pushResult?.completed == 2)
            #expect(try await a.operations().map(\.itemID) == ["0"])
            #expect(scenario.writes().map(\.status) == [400, 201, 201])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `with concurrent operations, one that waits for another of its item does not block the rest`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.settings(concurrency: 3))
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.delete(id: "x")
            scenario.server.inject(.dropRequest, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.insert(["id": "x", "text": "two"])
            try await a.table.insert(["id": "y", "text": "one"])
            #expect(try await a.operations().map(\.kind) == [.delete, .insert, .insert])
            let gate = RequestGate()
            scenario.server.inject(.hold(gate), .hold(gate), when: \.isWrite)
            let context = a.context
            let push = Task { try await context.push() }
            await gate.waitForArrivals(2)
            gate.open()
            _ = await push.result
            #expect(try scenario.row("y") != nil)
        }
    }

    @Test(arguments: [1, 2])
    func `no operation starts after the deadline, also not one queued during the last request`(
        _ concurrency: Int
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let clock = Mutex(Timestamp.unixEpoch)
            let a = try scenario.device(settings: Self.settings(concurrency: concurrency)) {
                $0.now = { clock.withLock { $0 } }
            }
            try await a.table.insert(["id": "x", "text": "one"])
            if concurrency == 1 { try await a.table.insert(["id": "behind"]) }
            let result = try await scenario.push(a, budget: PushBudget(duration: .seconds(10))) { _ in
                try await a.table.insert(["id": "y", "text": "late"])
                try await a.table.update(id: "x", ["text": "two"])
                clock.withLock { $0 = $0.advanced(by: .seconds(60)) }
            }
            #expect(try result.get().completed == 1)
            #expect(scenario.writes().count == 1)
        }
    }

    @Test(arguments: [1, 2])
    func `a delegate is not called after the push is cancelled`(_ concurrency: Int) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let delegate = RecordingDelegate()
            let a = try scenario.device(
                delegate: delegate, settings: Self.settings(concurrency: concurrency),
                transport: UncancellableTransport(.patient))
            try await a.table.insert(["id": "x", "text": "one"])
            let result = try await scenario.push(a) { push in
                try await a.table.insert(["id": "y", "text": "one"])
                push.cancel()
            }
            #expect(throws: CancellationError.self) { _ = try result.get() }
            #expect(delegate.ids == ["x"])
            #expect(try await a.operations().map(\.state) == [.pending])
        }
    }
}

extension Device {
    /// Returns all operations but the first.
    fileprivate func waitingOperations() async throws -> [TableOperation] {
        Array(try await operations().dropFirst())
    }
}

/// A delegate that records the ids of its operations.
private final class RecordingDelegate: SyncContextDelegate {
    private let list = Mutex<[String]>([])

    var ids: [String] { list.withLock { $0 } }

    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        list.withLock { $0.append(operation.operation.itemID) }
        return try await operation.execute()
    }
}

/// A transport that completes requests of cancelled tasks.
private struct UncancellableTransport: HTTPTransport {
    private let base: any HTTPTransport

    init(_ base: any HTTPTransport) { self.base = base }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await Task { try await base.send(request) }.value
    }
}

/// A transport that counts the requests in flight.
private final class ConcurrencyCountingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let counts = Mutex((current: 0, maximum: 0))

    init(_ base: any HTTPTransport) { self.base = base }

    /// Maximum number of concurrent requests.
    var maximum: Int { counts.withLock { $0.maximum } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        counts.withLock { $0 = ($0.current + 1, max($0.maximum, $0.current + 1)) }
        defer { counts.withLock { $0.current -= 1 } }
        return try await base.send(request)
    }
}
