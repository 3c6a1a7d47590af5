// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// Two contexts with separate stores on one file, as two processes have them.
@Suite struct SharedStoreTests {
    private struct Pair {
        let scenario: Scenario
        let first: Device
        let second: Device
        /// Holds back pages of the second device.
        let page: HeldResponseTransport
        /// Delays of the second device while it waits for the push lock.
        let delays: HeldDelays
    }

    /// - Parameter resolver: resolves the conflicts that the second device finds.
    private func run(
        softDelete: Bool = true, resolver: ConflictResolver? = nil, _ body: (Pair) async throws -> Void
    ) async throws {
        try await Scenario.run(
            on: .sqlite, configure: { $0.tables = [.init(Todo.name, softDelete: softDelete)] }
        ) { scenario in
            let (page, delays) = (HeldResponseTransport(), HeldDelays())
            var settings = SyncSettings.singleAttempt
            settings.resolver = resolver
            let first = scenario.device(on: try scenario.sharedStore(), name: "A", settings: .singleAttempt)
            let second = scenario.device(
                on: try scenario.sharedStore(), name: "B", settings: settings, transport: page
            ) { $0.sleep = { _ in try await delays.wait() } }
            try await body(
                Pair(scenario: scenario, first: first, second: second, page: page, delays: delays))
            try await first.context.close()
            try await second.context.close()
        }
    }

    /// Pulls with the second device, and runs the body after its page was received and before it is stored.
    @discardableResult
    private func pullSecond(
        _ pair: Pair, queryID: String? = "all", while body: () async throws -> Void
    ) async throws -> PullResult {
        pair.page.holdNext()
        let second = pair.second
        let pull = Task {
            try await second.context.pull(Todo.query, queryID: queryID, settings: .withoutPush)
        }
        try await pair.page.waitForResponse()
        try await body()
        pair.page.release()
        return try await pull.value
    }

    @Test func `an observer sees its own process's commit after another process has changed the result`()
        async throws
    {
        try await run { pair in
            for id in ["1", "2"] { try await pair.first.table.insert(["id": .text(id)]) }
            var results = pair.first.table.observe(Todo.query.limit(2)).makeAsyncIterator()
            #expect(try await results.next()?.items.map(\.id) == ["1", "2"])
            try await pair.second.table.delete(id: "2")
            try await pair.first.table.insert(["id": "3"])
            #expect(try await results.next()?.items.map(\.id) == ["1", "3"])
        }
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
            for _ in 0..<2 {
                try await pair.delays.waitForStart()
                pair.delays.endOne()
            }
            try await pair.delays.waitForStart()
            #expect(pair.scenario.writes().count == 1)
            gate.open()
            pair.delays.endAll()
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
            try await pair.delays.waitForStart()
            push.cancel()
            await #expect(throws: CancellationError.self) { try await push.value }
            lock.release()
            try await second.push()
        }
    }

    @Test(arguments: [true, false])
    func `a stale page does not revert a row that another process pushed`(hasVersions: Bool) async throws {
        let response = Data(#"{"id":"1","text":"new","updatedAt":"2030-01-01T00:00:00.000Z"}"#.utf8)
        try await run { pair in
            pair.scenario.server.onRequest { request in
                if hasVersions { return .none }
                guard request.isWrite else { return .editFields { $0["version"] = nil } }
                return .applyThenAnswer(
                    status: 200, headers: ["Content-Type": "application/json"], body: response)
            }
            for id in ["1", "2"] { try await pair.scenario.server.put(id, ["text": "old"], in: Todo.name) }
            try await pair.first.sync()
            try await pair.scenario.server.update("2", ["text": "theirs"], in: Todo.name)
            pair.scenario.server.removeRequests()
            try await pullSecond(pair) {
                try await pair.first.table.update(id: "1", ["text": "new"])
                try await pair.first.context.push()
            }
            #expect(try await pair.second.texts() == ["new", "theirs"])
            // The rows of the page tell which is later, so that it is not requested again.
            let pages = pair.scenario.server.requests.filter(\.isPage).map(\.query)
            #expect(Set(pages).count == pages.count)
            guard hasVersions else { return }
            try await pair.second.pullWithoutPush()
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

    @Test func `a page of the same instant does not revert a row that another process pulled`() async throws {
        try await run { pair in
            let server = pair.scenario.server
            // Pulls request rows of the future again.
            let future = SyncEnvironment.live.now().advanced(by: .seconds(3600))
            try await server.put("1", ["text": "old"], in: Todo.name, updatedAt: future)
            try await pair.first.sync()
            try await pullSecond(pair) {
                try await server.update("1", ["text": "new"], in: Todo.name, updatedAt: future)
                try await pair.first.sync()
            }
            #expect(try await pair.second.texts() == ["new"])
        }
    }

    @Test
    func `a page of the same instant does not replace the row that another process stored with a change`()
        async throws
    {
        try await run { pair in
            let server = pair.scenario.server
            // Pulls request rows of the future again.
            let future = SyncEnvironment.live.now().advanced(by: .seconds(3600))
            try await server.put("1", ["text": "old"], in: Todo.name, updatedAt: future)
            try await pair.first.sync()
            try await pair.first.table.update(id: "1", ["text": "ours"])
            try await pullSecond(pair) {
                try await server.update("1", ["text": "new"], in: Todo.name, updatedAt: future)
                try await pair.first.pullWithoutPush()
            }
            #expect(try await pair.first.operations().map { $0.serverItem?["text"] } == ["new"])
        }
    }

    @Test func `a page does not restore a row that a decision of another process has removed`() async throws {
        try await run { pair in
            let server = pair.scenario.server
            try await server.put("1", ["text": "old"], in: Todo.name)
            try await pair.first.sync()
            try await pair.first.table.update(id: "1", ["text": "ours"])
            try await pullSecond(pair) {
                try await server.remove("1", in: Todo.name, leavingTombstone: false)
                let error = try await pair.first.expectPushError()
                try await pair.first.context.cancelAndDiscardItem(for: error)
            }
            #expect(try await pair.second.texts().isEmpty)
        }
    }

    /// A page of rows without `updatedAt` has no token, which the purge could remove.
    @Test func `a pull stores no token after another process has purged its first page`() async throws {
        try await run { pair in
            pair.scenario.server.onRequest { request in
                let isFirst = !request.query.contains("filter")
                let rows =
                    isFirst
                    ? #"[{"id":"u","version":"1","text":"undated"}]"#
                    : request.query.contains("0001-01-01")
                        ? #"[{"id":"d","version":"1","updatedAt":"2020-01-01T00:00:00.000Z","text":"dated"}]"#
                        : "[]"
                return .answer(status: 200, body: Data(rows.utf8))
            }
            var isPurged = false
            let pages = pair.second.context.pulling(Todo.query, queryID: "all", settings: .withoutPush)
            for try await _ in pages where !isPurged {
                try await pair.first.context.purge(Todo.query, pending: .refuse)
                isPurged = true
            }
            try await pair.second.pullWithoutPush()
            #expect(try await pair.second.texts() == ["dated", "undated"])
        }
    }

    @Test func `a page requested before another process has purged the table is requested again`()
        async throws
    {
        try await run { pair in
            try await pair.scenario.server.put("1", ["text": "old"], in: Todo.name)
            try await pair.first.sync()
            let result = try await pullSecond(pair, queryID: nil) {
                try await pair.first.table.update(id: "1", ["text": "new"])
                try await pair.first.context.push()
                try await pair.first.context.purge(Todo.query, keepingDeltaTokens: true)
            }
            #expect(result.upserted == 1)
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
            // A new row with the same id is pulled.
            try await pair.scenario.server.put("1", ["text": "again"], in: Todo.name)
            try await pullSecond(pair) { try await pair.first.table.insert(["id": "2", "text": "other"]) }
            #expect(try await pair.second.texts() == ["again", "other"])
        }
    }

    @Test func `a stale page does not restore a deleted row after the clock was set`() async throws {
        try await run(softDelete: false) { pair in
            try await pair.scenario.server.put("1", ["text": "old"], in: Todo.name)
            try await pair.first.sync()
            try await pullSecond(pair) {
                try await pair.first.table.delete(id: "1")
                try await pair.first.context.push()
                let later = pair.scenario.device(on: pair.first.store, name: "C") {
                    $0.now = { Timestamp(Date()).advanced(by: .seconds(86_400)) }
                }
                try await later.pullWithoutPush()
            }
            #expect(try await pair.second.texts().isEmpty)
        }
    }

    /// The server has no system properties, so that the removed row equals the new item.
    @Test
    func `a stale page does not restore a row that was deleted before the user inserted the item again`()
        async throws
    {
        try await run { pair in
            let (server, first) = (pair.scenario.server, pair.first)
            server.onRequest { request in
                guard request.isPage else { return .none }
                return .editFields { fields in
                    for name in ["createdAt", "updatedAt", "version"] { fields[name] = nil }
                }
            }
            try await server.put("1", ["text": "one"], in: Todo.name)
            try await first.context.pull(Todo.query)
            try await pullSecond(pair, queryID: nil) {
                try await server.remove("1", in: Todo.name)
                try await first.context.pull(Todo.query)
                try await first.table.insert(["id": "1", "text": "one"])
            }
            try await first.table.delete(id: "1")
            #expect(try await first.operations().isEmpty)
            #expect(try await first.texts().isEmpty)
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

    @Test func `purgeAll does not discard an operation that another process is sending`() async throws {
        try await run { pair in
            try await pair.first.table.insert(["id": "1", "text": "one"])
            let context = pair.second.context
            _ = try await pair.scenario.push(pair.first) { _ in
                await expectError(.purgeRefused) { try await context.purgeAll(pending: .discard) }
            }
        }
    }

    /// The new row has a version that earlier pushes of this store have replaced.
    @Test func `a row inserted again with an old version is pulled although another process commits`()
        async throws
    {
        try await run(softDelete: false) { pair in
            let (server, first) = (pair.scenario.server, pair.first)
            try await server.put("1", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "1", ["text": "two"])
            try await first.context.push()
            try await server.remove("1", in: Todo.name)
            try await server.put("1", ["text": "again"], in: Todo.name)
            // With a later row, no later pull reads the timestamp of the first row again.
            let later = SyncEnvironment.live.now().advanced(by: .seconds(3))
            try await server.put("3", ["text": "later"], in: Todo.name, updatedAt: later)
            try await pullSecond(pair) { try await first.table.insert(["id": "2", "text": "other"]) }
            #expect(try await pair.second.texts() == ["again", "later", "other"])
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

    @Test func `a pull leaves the conflict of an operation that another process is sending to that process`()
        async throws
    {
        let (begins, decides) = (TestSignal(), TestSignal())
        let resolver = ConflictResolver { _ in
            begins.send()
            try await decides.wait()
            return .keepServer
        }
        try await run(resolver: resolver) { pair in
            try await pair.scenario.server.put("1", ["text": "one"], in: Todo.name)
            try await pair.first.sync()
            try await pair.scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            try await pair.first.table.update(id: "1", ["text": "ours"])
            let second = pair.second
            let pull = Task { try await second.pullWithoutPush() }
            try await begins.wait()
            let result = try await pair.scenario.push(pair.first) { _ in
                decides.finish()
                _ = try await pull.value
                #expect(try await second.operations().map(\.kind) == [.update])
            }
            await expectError(.pushCompletedWithErrors) { _ = try result.get() }
            #expect(try await pair.first.texts() == ["ours"])
        }
    }
}
