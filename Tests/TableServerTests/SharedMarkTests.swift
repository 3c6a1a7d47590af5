// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import Testing

@testable import TableServer

/// The queries that tell change feeds whether their rows have changed.
@Suite
struct SharedMarkTests {
    private static let table = TableServer.Table("TodoItem")
    private static let scope = RowScope(table: table)

    /// Why a read failed.
    private struct StorageBusy: Error {}

    /// A storage that counts reads, and suspends one of them after it has read, or lets it fail.
    private final class ObservedStorage: RowStorage {
        private struct State {
            var readCount = 0
            var gate: RequestGate?
            var failure: StorageBusy?
        }

        private let base: SQLiteRowStorage
        private let state = Mutex(State())

        init() throws {
            let settings = RowStampSettings(TableServer.Configuration(tables: [SharedMarkTests.table]))
            base = try SQLiteRowStorage(path: nil, tables: [SharedMarkTests.table], settings: settings)
        }

        var readCount: Int { state.withLock { $0.readCount } }
        var changes: TableChanges { base.changes }
        var hasUnreportedChanges: Bool { false }

        func holdNextRead(at gate: RequestGate) { state.withLock { $0.gate = gate } }
        func failNextRead() { state.withLock { $0.failure = StorageBusy() } }

        func insert(_ id: String, in scope: RowScope = SharedMarkTests.scope) async throws {
            _ = try await write(scope) { rows in
                try rows.put(TableRow(newIn: rows, id: id, at: rows.stamp()))
            }
        }

        func read<Result: Sendable>(
            _ scope: RowScope, hasSeveralStatements: Bool,
            _ body: @escaping @Sendable (any RowReader) throws -> Result
        ) async throws -> Result {
            let result = try await base.read(scope, body)
            let (gate, failure) = state.withLock { state in
                state.readCount += 1
                defer { (state.gate, state.failure) = (nil, nil) }
                return (state.gate, state.failure)
            }
            if let failure { throw failure }
            try await gate?.wait(until: StopSignal())
            return result
        }

        func readNow<Result>(_ scope: RowScope, _ body: (any RowReader) throws -> Result) throws -> Result {
            try base.readNow(scope, body)
        }

        func write<Result: Sendable>(
            _ scope: RowScope, _ body: @escaping @Sendable (any RowWriter) throws -> Result
        ) async throws -> Result {
            try await base.write(scope, body)
        }

        func lastChanges() async throws -> [String: String] { try await base.lastChanges() }
        func check() async throws { try await base.check() }
        func interrupt() { base.interrupt() }
        func close() { base.close() }
    }

    /// Returns a feed of the table, which ends after the first change of it.
    private func makeFeed(of storage: ObservedStorage) throws -> ChangeFeed {
        let settings = TableServer.Configuration(tables: [Self.table])
        return ChangeFeed(
            storage: storage, scopes: [Self.scope], names: ["TodoItem"], lastMark: "empty",
            wait: .seconds(3600), clock: .system(), end: nil,
            permit: try FeedLimit().permit(for: "client", settings))
    }

    @Test func `all feeds of a table share one query after a change`() async throws {
        let storage = try ObservedStorage()
        let count = 50
        let texts: [String] = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                let feed = try makeFeed(of: storage)
                group.addTask {
                    var sent = ""
                    try await feed.run { text in sent += text }
                    return sent
                }
            }
            // Each feed has looked at the rows before the change.
            while storage.readCount < count { await Task.yield() }
            try await storage.insert("a")
            var texts: [String] = []
            for try await text in group { texts.append(text) }
            return texts
        }
        #expect(storage.readCount == count + 1)
        #expect(texts.count == count && Set(texts).count == 1)
        #expect(texts[0].hasSuffix("\ndata: TodoItem\n\n") && !texts[0].contains("empty"))
    }

    @Test func `a feed does not take the result of a query that has begun before its change`() async throws {
        let (storage, gate) = (try ObservedStorage(), RequestGate())
        try await storage.insert("a")
        storage.holdNextRead(at: gate)
        async let first = storage.changes.mark(of: Self.scope, in: storage)
        // It has read the rows before the second change.
        await gate.waitForArrivals()
        try await storage.insert("b")
        gate.open()
        let second = try await storage.changes.mark(of: Self.scope, in: storage)
        let current = try await storage.mark(of: Self.scope)
        #expect(second == current)
        #expect(try await first != second)
    }

    @Test func `a query that has failed is made again`() async throws {
        let storage = try ObservedStorage()
        try await storage.insert("a")
        storage.failNextRead()
        await #expect(throws: StorageBusy.self) {
            try await storage.changes.mark(of: Self.scope, in: storage)
        }
        let current = try await storage.mark(of: Self.scope)
        #expect(try await storage.changes.mark(of: Self.scope, in: storage) == current)
    }

    @Test func `feeds of different users have different queries`() async throws {
        let storage = try ObservedStorage()
        let (ann, bob) = (
            RowScope(table: Self.table, owner: "ann"), RowScope(table: Self.table, owner: "bob")
        )
        try await storage.insert("a", in: bob)
        try await #expect(storage.changes.mark(of: ann, in: storage) == "empty")
        try await #expect(storage.changes.mark(of: bob, in: storage) != "empty")
        #expect(storage.readCount == 2)
    }

    @Test func `users whose ids are equal as text, but not byte for byte, have different queries`()
        async throws
    {
        let storage = try ObservedStorage()
        let composed = RowScope(table: Self.table, owner: "Jos\u{E9}")
        let decomposed = RowScope(table: Self.table, owner: "Jose\u{301}")
        try await storage.insert("a", in: composed)
        try await #expect(storage.changes.mark(of: composed, in: storage) != "empty")
        try await #expect(storage.changes.mark(of: decomposed, in: storage) == "empty")
    }

    @Test func `a listener is told which of its tables have changed`() {
        func scope(_ table: String, of owner: String = "") -> RowScope {
            RowScope(table: TableServer.Table(table), owner: owner)
        }
        let changes = TableChanges()
        let (number, _) = changes.listen(to: [scope("a"), scope("b"), scope("c", of: "ann")])
        for scope in [scope("a"), scope("c", of: "bob"), scope("d")] { changes.signal(scope) }
        #expect(changes.takeChanges(number) == ["a"])
        changes.signal(scope("c", of: "ann"))
        #expect(changes.takeChanges(number) == ["c"])
        #expect(changes.takeChanges(number) == [])
    }
}
