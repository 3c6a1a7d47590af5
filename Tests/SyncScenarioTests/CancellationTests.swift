// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Calls that are cancelled while a request hangs: they end, and leave everything as if it had not been sent.
@Suite struct CancellationTests {
    /// Cancels the call as soon as its nth request has arrived at the server, where it hangs.
    private func cancel(
        _ scenario: Scenario, atRequest number: Int,
        _ call: @escaping @Sendable () async throws -> Void
    ) async -> any Error {
        let gate = RequestGate()
        scenario.server.removeRequests()
        let first = number
        scenario.server.onRequest { _ in scenario.server.requests.count >= first ? .hold(gate) : .none }
        let task = Task { try await call() }
        await gate.waitForArrivals()
        task.cancel()
        let result = await task.result
        scenario.server.onRequest(nil)
        gate.open()
        switch result {
        case .success: return ExpectedCancellation()
        case .failure(let error): return error
        }
    }

    private struct ExpectedCancellation: Error {}

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
                for number in 0..<35 {
                    try await scenario.server.put(
                        "row-\(number)", ["text": .text("\(number)")], in: Todo.name)
                }
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
            for number in 0..<35 {
                try await scenario.server.put("row-\(number)", ["text": .text("\(number)")], in: Todo.name)
            }
            let a = try scenario.device()
            let task = Task {
                // The second page is fetched by the time the first is stored.
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
            let (started, signal) = AsyncStream.makeStream(of: Void.self)
            var environment = SyncEnvironment.instant(seed: 1)
            environment.sleep = { _ in
                signal.yield()
                try await Task.sleep(for: .seconds(3600))
            }
            let store = try scenario.kind.open(
                in: scenario.directory, name: "S", tables: [Todo.definition])
            let context = SyncContext(
                client: SyncClient(url: scenario.server.url), dataSource: store, environment: environment)
            try await context.table(Todo.name).insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(503))
            let push = Task { try await context.push() }
            for await _ in started { break }
            push.cancel()
            await #expect(throws: CancellationError.self) { _ = try await push.value }
            #expect(try await context.pendingOperationCount() == 1)
            try await context.push()
            #expect(try await context.pendingOperationCount() == 0)
        }
    }
}
