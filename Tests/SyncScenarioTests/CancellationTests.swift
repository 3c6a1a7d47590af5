// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// Calls that are cancelled during a request end and lose no change.
@Suite struct CancellationTests {
    /// Runs the call, cancels it when its request with that number reaches the server, and returns its error.
    private func cancel(
        _ scenario: Scenario, atRequest number: Int,
        _ call: @escaping @Sendable () async throws -> Void
    ) async -> any Error {
        let gate = RequestGate()
        scenario.server.removeRequests()
        scenario.server.onRequest { _ in scenario.server.requests.count >= number ? .hold(gate) : .none }
        let task = Task { try await call() }
        await gate.waitForArrivals()
        task.cancel()
        let result = await task.result
        scenario.server.onRequest(nil)
        gate.open()
        switch result {
        case .success: return NoError()
        case .failure(let error): return error
        }
    }

    /// The call returned although it was cancelled.
    private struct NoError: Error {}

    @Test(arguments: StoreKind.allCases)
    func `a push cancelled at any request throws CancellationError and loses no change`(
        _ kind: StoreKind
    ) async throws {
        for request in 1...4 {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device()
                try await scenario.server.put("u", ["text": "one"], in: Todo.name)
                try await scenario.server.put("d", ["text": "one"], in: Todo.name)
                try await a.sync()
                try await a.table.insert(["id": "i", "text": "new"])
                try await a.table.update(id: "u", ["text": "two"])
                try await a.table.delete(id: "d")
                try await a.table.insert(["id": "j", "text": "new"])
                let error = await cancel(scenario, atRequest: request) { try await a.context.push() }
                #expect(error is CancellationError, "\(error)")
                #expect(try await a.operations().count == 5 - request)
                #expect(try await a.table.items().count == 3)
                try await a.sync()
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull cancelled at any page keeps the pages already stored`(_ kind: StoreKind) async throws {
        for request in 1...4 {
            try await Scenario.run(on: kind) { scenario in
                try await scenario.putRows(35)
                scenario.server.clock.advance(by: .seconds(10))
                let a = try scenario.device()
                let error = await cancel(scenario, atRequest: request) {
                    try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 10))
                }
                #expect(error is CancellationError, "\(error)")
                #expect(try await a.table.items().count == 10 * (request - 1))
                try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 10))
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page already received is stored although the pull is cancelled`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.putRows(35)
            let a = try scenario.device()
            let task = Task {
                // The second page is received before the first one is stored.
                for try await _ in a.context.pulling(Todo.query, queryID: "all", settings: .pages(of: 10)) {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await a.table.items().count == 20)
            #expect(try await a.context.deltaTokens(of: Todo.name)["all"] != nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a call in a cancelled task sends nothing`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x"])
            let calls: [@Sendable () async throws -> Void] = [
                { try await a.context.push() }, { try await a.context.pull(Todo.query) },
                { try await a.context.purge(Todo.query) },
                { try await a.context.purge(Todo.query, pending: .discard) },
                { try await a.context.purgeAll(pending: .discard) },
            ]
            for call in calls {
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await call()
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(scenario.server.requests.isEmpty)
            #expect(try await a.operations().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a push that waits for another push can be cancelled alone`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x"])
            let gate = RequestGate()
            scenario.server.inject(.hold(gate))
            let first = Task { try await a.context.push() }
            await gate.waitForArrivals()
            let second = Task { try await a.context.push() }
            second.cancel()
            await #expect(throws: CancellationError.self) { _ = try await second.value }
            gate.open()
            #expect(try await first.value.completed == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a purge that is cancelled during its push removes nothing`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            let error = await cancel(scenario, atRequest: 1) { try await a.context.purge(Todo.query) }
            #expect(error is CancellationError)
            #expect(try await a.texts() == ["one"])
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit made during a cancelled request is sent by the next push`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            let gate = RequestGate()
            scenario.server.inject(.hold(gate))
            let push = Task { try await a.context.push() }
            await gate.waitForArrivals()
            try await a.table.update(id: "x", ["text": "two"])
            push.cancel()
            await #expect(throws: CancellationError.self) { _ = try await push.value }
            gate.open()
            try await a.table.update(id: "x", ["text": "three"])
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "three")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cancelling the push ends the delay before a retry`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (delayBegan, delayEnds) = (TestSignal(), TestSignal())
            let a = try scenario.device {
                $0.sleep = { _ in
                    delayBegan.send()
                    try await delayEnds.wait()
                }
            }
            let context = a.context
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(503))
            let push = Task { try await context.push() }
            try await delayBegan.wait()
            push.cancel()
            await #expect(throws: CancellationError.self) { _ = try await push.value }
            #expect(try await context.pendingOperationCount() == 1)
            try await context.push()
            #expect(try await context.pendingOperationCount() == 0)
        }
    }

    @Test func `cancelling the push ends the longest delay that a server can ask for`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let delayBegins = TestSignal()
            var settings = SyncSettings()
            settings.retry.maxRetryAfter = .seconds(Int64.max)
            let a = try scenario.device(settings: settings) {
                $0.sleep = { delay in
                    delayBegins.send()
                    try await SyncEnvironment.live.sleep(delay)
                }
            }
            let context = a.context
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.answer(status: 503, headers: ["Retry-After": "9223372036854775807"]))
            let push = Task { try await context.push() }
            try await delayBegins.wait()
            push.cancel()
            await #expect(throws: CancellationError.self) { _ = try await push.value }
            #expect(try await context.pendingOperationCount() == 1)
            try await context.push()
            #expect(try await context.pendingOperationCount() == 0)
        }
    }
}
