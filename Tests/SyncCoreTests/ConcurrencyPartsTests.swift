// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import Synchronization
import TestSupport
import Testing

@testable import SyncCore

/// The small parts that put calls in order: turns, group commit and the feed of commits.
@Suite struct ConcurrencyPartsTests {
    // MARK: Turns

    private final class Log: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func note(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Takes a turn that lasts until it is opened; it has begun when this returns.
    private static func takeTurn(
        of turns: AsyncMutex
    ) async -> (turn: Task<Void, any Error>, open: AsyncStream<Void>.Continuation) {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (beginning, begin) = AsyncStream.makeStream(of: Void.self)
        let turn = Task {
            try await turns.take {
                begin.finish()
                for await _ in gate { break }
            }
        }
        for await _ in beginning {}
        return (turn, open)
    }

    @Test func `turns are taken one at a time, in the order of asking`() async throws {
        let turns = AsyncMutex()
        let log = Log()
        let (first, open) = await Self.takeTurn(of: turns)
        var others: [Task<Void, any Error>] = []
        for number in 0..<10 {
            while turns.waitingCount < number { await Task.yield() }
            others.append(Task { try await turns.take { log.note(number) } })
        }
        while turns.waitingCount < 10 { await Task.yield() }
        open.yield()
        try await first.value
        for task in others { try await task.value }
        #expect(log.all == Array(0..<10))
    }

    @Test func `a turn is passed on when the body throws, and a cancelled waiter leaves the line`()
        async throws
    {
        struct Failure: Error {}
        let turns = AsyncMutex()
        await #expect(throws: Failure.self) { try await turns.take { throw Failure() } }
        let (first, open) = await Self.takeTurn(of: turns)
        let second = Task { try await turns.take {} }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        open.yield()
        try await first.value
        #expect(try await turns.take { 5 } == 5)
    }

    // MARK: Group commit

    /// Keeps writes until they are let go, and counts transactions.
    private final class SlowExecutor: StoreExecutor {
        private let pending = Mutex<[@Sendable () -> Void]>([])

        func read(_ work: @escaping @Sendable () -> Void) { work() }
        func write(_ work: @escaping @Sendable () -> Void) { pending.withLock { $0.append(work) } }

        func run() {
            for work in pending.withLock({ work in
                defer { work = [] }; return work
            }) { work() }
        }
    }

    private static func store() throws -> CountingStore {
        CountingStore(
            try MemoryStore(tables: [SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])]))
    }

    /// Starts so many inserts, of which some throw after they have changed something, and runs them together.
    private func writeTogether(
        _ count: Int, failing: Set<Int>
    ) async throws -> (store: CountingStore, results: [Result<Int, any Error>]) {
        let store = try Self.store()
        let executor = SlowExecutor()
        let access = GroupCommitWriter(dataSource: store, executor: executor, commits: CommitFeed())
        var tasks: [Task<Int, any Error>] = []
        for number in 0..<count {
            tasks.append(
                Task {
                    try await access.write { transaction in
                        try transaction.upsert([Item(id: "\(number)")], in: "T")
                        if failing.contains(number) { throw SyncError(.invalidItem, "\(number)") }
                        return number
                    }
                })
        }
        while access.waitingCount < count { await Task.yield() }
        executor.run()
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return (store, results)
    }

    @Test func `writes that wait share one transaction`() async throws {
        let (store, results) = try await writeTogether(50, failing: [])
        #expect(store.commits == 1)
        #expect(try results.map { try $0.get() } == Array(0..<50))
        #expect(try store.read { try $0.items(matching: TableQuery("T")).items.count } == 50)
    }

    @Test(arguments: [[0], [3], [9], [0, 9], [1, 2, 3], Array(0..<10)])
    func `a refused write takes nothing of its neighbours with it`(
        _ failing: [Int]
    ) async throws {
        let (store, results) = try await writeTogether(10, failing: Set(failing))
        let ids = try store.read { try $0.items(matching: TableQuery("T")).items.map(\.id) }
        #expect(ids == (0..<10).filter { !failing.contains($0) }.map { "\($0)" })
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let value):
                #expect(value == number)
                #expect(!failing.contains(number))
            case .failure(let error):
                #expect((error as? SyncError)?.message == "\(number)")
                #expect(failing.contains(number))
            }
        }
    }

    @Test func `a write that was begun is made though nobody waits, and tells its outcome later`()
        async throws
    {
        let store = try Self.store()
        let executor = SlowExecutor()
        let access = GroupCommitWriter(dataSource: store, executor: executor, commits: CommitFeed())
        _ = access.begin { try $0.upsert([Item(id: "forgotten")], in: "T") }
        let first = access.begin { transaction in
            try transaction.upsert([Item(id: "first")], in: "T")
            return 1
        }
        let refused = access.begin { _ -> Int in throw SyncError(.invalidItem, "Refused.") }
        executor.run()
        let items = try store.read { try $0.items(matching: TableQuery("T")).items }
        #expect(items.map(\.id) == ["first", "forgotten"])
        #expect(try await first.value == 1)
        await #expect(throws: SyncError.self) { try await refused.value }
    }

    @Test(arguments: 0..<20) func `nobody hears of a write before it is durable`(_: Int) async throws {
        let store = try Self.store()
        let executor = SlowExecutor()
        let access = GroupCommitWriter(dataSource: store, executor: executor, commits: CommitFeed())
        let (tasks, newTask) = AsyncStream.makeStream(of: Task<Int, any Error>.self)
        let write = access.begin { _ in 1 }
        store.setBeforeCommit {
            let asking = DispatchSemaphore(value: 0)
            newTask.yield(
                Task {
                    asking.signal()
                    return try await write.value
                })
            asking.wait()
            // Time enough for an answer, if there were one.
            for _ in 0..<100 { sched_yield() }
            throw StoreError(.full, "There is no room.")
        }
        Thread.detachNewThread { executor.run() }
        for await task in tasks {
            await #expect(throws: StoreError.self) { try await task.value }
            break
        }
    }

    // MARK: Commits

    @Test func `a feed signals at once, after each commit, and ends when it finishes`() async {
        let feed = CommitFeed()
        var signals = feed.signals().makeAsyncIterator()
        #expect(await signals.next() != nil)
        feed.send()
        feed.send()
        #expect(await signals.next() != nil)
        feed.finish()
        #expect(await signals.next() == nil)
        var late = feed.signals().makeAsyncIterator()
        _ = await late.next()
        #expect(await late.next() == nil)
    }

    @Test func `a busy listener gets one signal for many commits, and others theirs`() async {
        let feed = CommitFeed()
        var (busy, idle) = (feed.signals().makeAsyncIterator(), feed.signals().makeAsyncIterator())
        for _ in 0..<100 { feed.send() }
        #expect(await busy.next() != nil)
        #expect(await idle.next() != nil)
        feed.finish()
        #expect(await busy.next() == nil)
        #expect(await idle.next() == nil)
    }
}
