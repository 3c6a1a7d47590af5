// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import StoreSQLite
import SyncCore
import Synchronization
import TableServer
import Testing

/// Two contexts over one file, each with a store of its own, as two processes have it.
@Suite struct SharedStoreTests {
    private struct Pair {
        let scenario: Scenario
        let first: Device
        let second: Device
        /// The answers to the second's pages wait here.
        let page: HeldPage
        /// How often the second has waited for a while.
        let waits: AsyncStream<Void>
    }

    private func run(_ body: (Pair) async throws -> Void) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let path = scenario.directory.appendingPathComponent("shared.sqlite").path
            let page = HeldPage()
            let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
            func device(
                _ name: String, _ transport: any HTTPTransport, _ change: (inout SyncEnvironment) -> Void
            ) throws -> Device {
                let store = try SQLiteStore(path: path, tables: [Todo.definition], sharing: .shared)
                var environment = SyncEnvironment.instant(seed: UInt64(name.utf8.count))
                change(&environment)
                let context = SyncContext(
                    client: SyncClient(url: scenario.server.url, transport: transport, installationID: name),
                    dataSource: store, environment: environment)
                return Device(context: context, store: store)
            }
            let first = try device("A", URLSessionTransport()) { _ in }
            let second = try device("BB", page) { environment in
                environment.sleep = { _ in
                    waiting.yield()
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            try await body(
                Pair(scenario: scenario, first: first, second: second, page: page, waits: waits))
            try await first.context.close()
            try await second.context.close()
        }
    }

    /// Pulls with the second device, and runs the body when its page has come and is not stored yet.
    private func pullSecond(_ pair: Pair, while body: () async throws -> Void) async throws {
        pair.page.holdNext()
        let second = pair.second
        let pull = Task { try await second.pullAnyway() }
        await pair.page.waitForArrival()
        try await body()
        pair.page.release()
        _ = try await pull.value
    }

    @Test func `one of two processes pushes at a time, and the other continues afterwards`() async throws {
        try await run { pair in
            try await pair.first.table.insert(["id": "1", "text": "one"])
            let gate = RequestGate()
            pair.scenario.server.inject(.hold(gate), when: \.isWrite)
            let (first, second) = (pair.first.context, pair.second.context)
            async let push = first.push()
            await gate.waitForArrivals()
            try await pair.second.table.insert(["id": "2", "text": "two"])
            async let other = second.push()
            var waits = pair.waits.makeAsyncIterator()
            for _ in 0..<3 { await waits.next() }
            #expect(pair.scenario.writes().count == 1)
            gate.open()
            let completed = try await [push.completed, other.completed]
            #expect(completed.reduce(0, +) == 2)
            #expect(pair.scenario.writes().count == 2)
            #expect(try pair.scenario.serverTexts() == ["one", "two"])
        }
    }

    @Test func `a push that waits for another process can be cancelled`() async throws {
        try await run { pair in
            let lock = try #require(try pair.first.store.tryLockPush())
            let second = pair.second.context
            let push = Task { try await second.push() }
            var waits = pair.waits.makeAsyncIterator()
            await waits.next()
            push.cancel()
            await #expect(throws: CancellationError.self) { try await push.value }
            lock.release()
            try await second.push()
        }
    }

    @Test func `a stale page does not revert a row that another process pushed`() async throws {
        try await run { pair in
            try await pair.scenario.server.put("1", ["text": "old", "priority": 1], in: Todo.name)
            try await pair.first.sync()
            try await pullSecond(pair) {
                try await pair.first.table.update(id: "1", ["text": "new"])
                try await pair.first.context.push()
            }
            #expect(try await pair.second.texts() == ["new"])
            try await pair.second.pullAnyway()
            try await pair.scenario.expectAgreement(pair.second)
        }
    }

    @Test func `a stale page does not revert a row that another process pulled`() async throws {
        try await run { pair in
            try await pair.scenario.server.put("1", ["text": "old"], in: Todo.name)
            try await pair.first.sync()
            try await pullSecond(pair) {
                try await pair.scenario.server.update("1", ["text": "new"], in: Todo.name)
                try await pair.first.sync()
            }
            #expect(try await pair.second.texts() == ["new"])
        }
    }

    @Test(arguments: [true, false])
    func `a stale page does not restore a row that another process deleted`(_ leavesTombstone: Bool)
        async throws
    {
        try await run { pair in
            try await pair.scenario.server.put("1", ["text": "old"], in: Todo.name)
            try await pair.first.sync()
            try await pullSecond(pair) {
                if leavesTombstone {
                    try await pair.scenario.server.remove("1", in: Todo.name)
                    try await pair.first.sync()
                } else {
                    try await pair.first.table.delete(id: "1")
                    try await pair.first.context.push()
                }
            }
            #expect(try await pair.second.texts().isEmpty)
            // The row can come again.
            try await pair.scenario.server.put("1", ["text": "again"], in: Todo.name)
            try await pullSecond(pair) { try await pair.first.table.insert(["id": "2", "text": "other"]) }
            #expect(try await pair.second.texts() == ["again", "other"])
        }
    }

    @Test func `a purge does not discard an operation that another process is sending`() async throws {
        try await run { pair in
            try await pair.first.table.insert(["id": "1", "text": "one"])
            let second = pair.second.context
            let result = try await pair.scenario.push(pair.first) { _ in
                await expectError(.purgeRefused) { try await second.purge(Todo.query, pending: .discard) }
            }
            _ = try result.get()
            #expect(try await pair.second.texts() == ["one"])
            try await pair.second.table.update(id: "1", ["text": "two"])
            try await second.purge(Todo.query, pending: .discard)
            #expect(try await pair.first.texts().isEmpty)
            #expect(try await pair.first.operations().isEmpty)
        }
    }

    @Test func `an edit of an item that another process is sending is queued behind the operation`()
        async throws
    {
        try await run { pair in
            try await pair.first.table.insert(["id": "1", "text": "one"])
            let result = try await pair.scenario.push(pair.first) { _ in
                try await pair.second.table.update(id: "1", ["text": "two"])
                try await pair.second.context.batch { try $0.update(id: "1", ["priority": 2], in: Todo.name) }
                #expect(try await pair.second.operations().map(\.kind) == [.insert, .update])
            }
            _ = try result.get()
            try await pair.second.context.push()
            #expect(try pair.scenario.row("1")?.fields == ["text": "two", "priority": 2])
            try await pair.scenario.expectAgreement(pair.second)
        }
    }
}

/// Passes requests on, and holds the answer to one list of rows back when it is told to.
private final class HeldPage: HTTPTransport {
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
            defer { if request.head.method == .get { isArmed = false } }
            return isArmed && request.head.method == .get
        }
        if isHeld {
            arrivals.continuation.yield()
            for await _ in releases.stream { break }
        }
        return response
    }
}
