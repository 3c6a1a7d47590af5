// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization
import TableServer
import Testing

/// Changes that overwrite others without a conflict, and decisions that undo changes.
@Suite struct OverwriteTests {
    typealias Delegate = DelegateTests.Delegate

    private static var settings: SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        return settings
    }

    /// The device has a copy of a row that another client has changed since; the device has pulled that change.
    private func staleCopy(_ body: (Scenario, Device, Item) async throws -> Void) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: Self.settings)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            var copy = try #require(try await a.item("x"))
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["complete": true])
            copy["priority"] = 5
            try await body(scenario, a, copy)
        }
    }

    @Test func `a stale copy saved behind an operation in flight is a conflict`() async throws {
        try await staleCopy { scenario, a, copy in
            _ = try await scenario.push(a) { _ in try await a.table.replace(copy) }
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test func `a stale copy saved after an attempt with unknown outcome is a conflict`() async throws {
        try await staleCopy { scenario, a, copy in
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await a.table.replace(copy)
            _ = try? await a.context.push()
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    /// The row that proves a lost update may hold another client's change of other columns.
    @Test func `a copy from before another client's change is a conflict after a lost answer was proven`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: Self.settings)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            var copy = try #require(try await a.item("x"))
            try await a.table.update(id: "x", ["priority": 2])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            _ = try? await a.context.push()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "theirs")
            copy["complete"] = true
            try await a.table.replace(copy)
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: [false, true])
    func `an item that a delegate returns does not restore an item deleted during the callback`(
        _ executes: Bool
    )
        async throws
    {
        let delegate = Delegate(perform: { context, operation in
            if executes { _ = try? await operation.execute() }
            try await context.table(Todo.name).delete(id: "x")
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: Self.settings)
            try await a.table.insert(["id": "x", "text": "one"])
            if executes { scenario.server.inject(.refusal(400), when: \.isWrite) }
            _ = try? await a.context.push()
            if try await a.operations().isEmpty { #expect(try await a.item("x") == nil) }
        }
    }

    @Test func `an item that a delegate returns is not stored after a purge during the callback`()
        async throws
    {
        let delegate = Delegate(perform: { context, operation in
            try await context.purge(Todo.query, pending: .discard)
            return operation.item
        })
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(delegate: delegate, settings: Self.settings)
            try await a.table.insert(["id": "x", "text": "one"])
            _ = try? await a.context.push()
            #expect(try await a.item("x") == nil)
        }
    }

    /// The server's row has a value that the device cannot read; the user takes the row, and edits another column.
    @Test func `an update that replaces the whole row keeps an unreadable value`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.context.pull(Todo.query)
            try await scenario.server.update("x", ["priority": "high"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "two"])
            let error = try await a.failedPush()
            try await a.context.cancelAndUpdateItem(for: error, with: try #require(error.serverItem))
            try await a.table.update(id: "x", ["text": "three"])
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == "high")
        }
    }

    /// Middleware that fails after the answer has come, with an error of the framework.
    private struct FailingTransport: HTTPTransport {
        let base = URLSessionTransport()
        let fails = Counter()

        final class Counter: Sendable {
            private let left = Mutex(0)
            func arm() { left.withLock { $0 = 1 } }
            func take() -> Bool {
                left.withLock { left in
                    defer { left = 0 }
                    return left > 0
                }
            }
        }

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            let response = try await base.send(request)
            if fails.take() { throw SyncError(.unreadableResponse, "The signature of the answer is wrong.") }
            return response
        }
    }

    @Test func `an error of middleware after the response leaves the outcome unknown`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let transport = FailingTransport()
            let a = try scenario.device(settings: Self.settings, transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            transport.fails.arm()
            _ = try? await a.context.push()
            try await a.table.update(id: "x", ["text": "three"])
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a stale page does not revert a newer row that a resolver stored`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            var settings = Self.settings
            settings.resolver = .serverWins
            let transport = HeldAnswers()
            let a = try scenario.device(settings: settings, transport: transport)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "two"], in: Todo.name)
            transport.holdNext()
            let pull = Task { try await a.context.pull(Todo.query, settings: .anyway) }
            await transport.waitForArrival()
            try await scenario.server.update("x", ["text": "three"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            _ = try await a.context.push()
            #expect(try await a.item("x")?["text"] == "three")
            transport.release()
            _ = try await pull.value
            #expect(try await a.item("x")?["text"] == "three")
        }
    }
}

/// Passes requests on, and holds the answer to one list of rows back when it is told to.
final class HeldAnswers: HTTPTransport {
    private let base = URLSessionTransport()
    private let isArmed = Mutex(false)
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let releases = AsyncStream.makeStream(of: Void.self)

    func holdNext() { isArmed.withLock { $0 = true } }

    func waitForArrival() async { for await _ in arrivals.stream { return } }

    func release() { releases.continuation.yield() }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let response = try await base.send(request)
        let isHeld = isArmed.withLock { isArmed in
            guard request.head.method == .get, isArmed else { return false }
            isArmed = false
            return true
        }
        if isHeld {
            arrivals.continuation.yield()
            for await _ in releases.stream { break }
        }
        return response
    }
}
