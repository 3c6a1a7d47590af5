// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreMemory
import Synchronization
import TestSupport
import Testing

@testable import SyncCore

/// ``AsyncMutex``, ``AsyncSemaphore``, ``GroupCommitWriter`` and ``CommitFeed``.
@Suite struct ConcurrencyTests {
    // MARK: Mutex

    private final class Log: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func append(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Acquires the mutex until `release` is called; it is acquired when this returns.
    private static func hold(
        _ mutex: AsyncMutex
    ) async -> (holder: Task<Void, any Error>, release: AsyncStream<Void>.Continuation) {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (acquired, acquire) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await mutex.withLock {
                acquire.finish()
                for await _ in released { break }
            }
        }
        for await _ in acquired {}
        return (holder, release)
    }

    /// Tasks of a serial executor start in the order in which they were made, and run until they wait for the mutex.
    @Test func `one caller at a time holds a mutex, in the order of the calls`() async throws {
        let executor = SerialTaskExecutor()
        let mutex = AsyncMutex()
        let entered = Log()
        let (holder, release) = await Self.hold(mutex)
        let waiters = (0..<10).map { number in
            Task(executorPreference: executor) { try await mutex.withLock { entered.append(number) } }
        }
        await Task(executorPreference: executor) {
            #expect(entered.all.isEmpty)
            release.yield()
        }.value
        try await holder.value
        for waiter in waiters { try await waiter.value }
        #expect(entered.all == Array(0..<10))
    }

    @Test func `a mutex is released when the body throws or a waiter is cancelled`() async throws {
        struct Failure: Error {}
        let mutex = AsyncMutex()
        await #expect(throws: Failure.self) { try await mutex.withLock { throw Failure() } }
        let (holder, release) = await Self.hold(mutex)
        let waiter = Task { try await mutex.withLock {} }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        release.yield()
        try await holder.value
        #expect(try await mutex.withLock { 5 } == 5)
    }

    // MARK: Semaphore

    @Test func `a semaphore grants a permit again after its release, and none after it was closed`() async {
        let semaphore = AsyncSemaphore(permits: 2)
        let (first, second) = (await semaphore.acquire(), await semaphore.acquire())
        async let third = semaphore.acquire()
        first?.release()
        first?.release()
        #expect(second != nil)
        let last = await third
        #expect(last != nil)
        last?.release(closing: true)
        #expect(await semaphore.acquire() == nil)
    }

    @Test func `permits ahead are granted at once, and have their turns in order`() async {
        let semaphore = AsyncSemaphore(permits: 1, ahead: 2)
        let permits = [await semaphore.acquire(), await semaphore.acquire(), await semaphore.acquire()]
            .compactMap(\.self)
        #expect(permits.map(\.isItsTurn) == [true, false, false])
        async let last = permits[2].turn()
        async let second = permits[1].turn()
        permits[0].release()
        let isSecond = await second
        #expect(isSecond)
        #expect(!permits[2].isItsTurn)
        permits[1].release(closing: true)
        let isLast = await last
        #expect(!isLast)
    }

    // MARK: Group commit

    /// Runs writes when ``run()`` is called.
    private final class DeferredExecutor: StoreExecutor {
        private let pending = Mutex<[@Sendable () -> Void]>([])

        func read(_ work: @escaping @Sendable () -> Void) { work() }
        func write(_ work: @escaping @Sendable () -> Void) { pending.withLock { $0.append(work) } }

        func run() {
            let work = pending.withLock { pending in
                defer { pending = [] }
                return pending
            }
            for write in work { write() }
        }
    }

    private static func store() throws -> CountingStore {
        CountingStore(
            try MemoryStore(tables: [SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])]))
    }

    /// Begins inserts, some of which throw after a change, and runs them together.
    private func writeTogether(
        _ count: Int, failing: Set<Int>
    ) async throws -> (store: CountingStore, results: [Result<Int, any Error>]) {
        let store = try Self.store()
        let executor = DeferredExecutor()
        let writer = GroupCommitWriter(
            dataSource: store, executor: executor, commits: CommitFeed(), stalePageGuard: StalePageGuard())
        let writes = (0..<count).map { number in
            writer.begin { transaction in
                try transaction.upsert([Item(id: "\(number)")], in: "T")
                if failing.contains(number) { throw SyncError(.invalidItem, "\(number)") }
                return number
            }
        }
        executor.run()
        var results: [Result<Int, any Error>] = []
        for write in writes {
            do { results.append(.success(try await write.value)) } catch { results.append(.failure(error)) }
        }
        return (store, results)
    }

    @Test func `writes that wait share one transaction`() async throws {
        let (store, results) = try await writeTogether(50, failing: [])
        #expect(store.commits == 1)
        #expect(try results.map { try $0.get() } == Array(0..<50))
        #expect(try store.read { try $0.items(matching: TableQuery("T")).items.count } == 50)
    }

    @Test(arguments: [[0], [3], [9], [0, 9], [1, 2, 3], Array(0..<10)])
    func `a refused write does not roll back the others`(
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

    @Test func `writes whose commit has an unknown outcome fail and do not run again`() async throws {
        let base = try Self.store()
        let store = FaultingStore(base)
        store.faults.failingAfterCommit = 1
        let executor = DeferredExecutor()
        let writer = GroupCommitWriter(
            dataSource: store, executor: executor, commits: CommitFeed(), stalePageGuard: StalePageGuard())
        let writes = (0..<3).map { _ in
            writer.begin { transaction in
                let count = try transaction.item(id: "a", in: "T")?["n"]?.intValue ?? 0
                try transaction.upsert([Item(id: "a", fields: ["n": .int(count + 1)])], in: "T")
            }
        }
        executor.run()
        for write in writes {
            let error = await #expect(throws: StoreError.self) { try await write.value }
            #expect(error?.code == .outcomeUnknown)
        }
        #expect(try base.read { try $0.item(id: "a", in: "T")?["n"] } == 3)
    }

    @Test func `a write that was begun runs without a waiting caller, and returns its result later`()
        async throws
    {
        let store = try Self.store()
        let executor = DeferredExecutor()
        let writer = GroupCommitWriter(
            dataSource: store, executor: executor, commits: CommitFeed(), stalePageGuard: StalePageGuard())
        _ = writer.begin { try $0.upsert([Item(id: "unawaited")], in: "T") }
        let first = writer.begin { transaction in
            try transaction.upsert([Item(id: "first")], in: "T")
            return 1
        }
        let refused = writer.begin { _ -> Int in throw SyncError(.invalidItem, "Refused.") }
        executor.run()
        let items = try store.read { try $0.items(matching: TableQuery("T")).items }
        #expect(items.map(\.id) == ["first", "unawaited"])
        #expect(try await first.value == 1)
        await #expect(throws: SyncError.self) { try await refused.value }
    }

    @Test(arguments: 0..<20) func `a write returns its result only after the commit`(_: Int) async throws {
        let store = try Self.store()
        let executor = DeferredExecutor()
        let writer = GroupCommitWriter(
            dataSource: store, executor: executor, commits: CommitFeed(), stalePageGuard: StalePageGuard())
        let (tasks, newTask) = AsyncStream.makeStream(of: Task<Int, any Error>.self)
        let write = writer.begin { _ in 1 }
        store.setBeforeCommit {
            let waiting = DispatchSemaphore(value: 0)
            newTask.yield(
                Task {
                    waiting.signal()
                    return try await write.value
                })
            waiting.wait()
            // Gives the task time to return a result too early.
            for _ in 0..<100 { sched_yield() }
            throw StoreError(.full, "The store is full.")
        }
        Thread.detachNewThread { executor.run() }
        for await task in tasks {
            await #expect(throws: StoreError.self) { try await task.value }
            break
        }
    }

    // MARK: Commits

    @Test func `a stream signals at once and after each commit, and ends when the feed finishes`() async {
        let feed = CommitFeed()
        var signals = feed.signals(of: [.status]).makeAsyncIterator()
        #expect(await signals.next() != nil)
        feed.send(.operations)
        feed.send(.operations)
        #expect(await signals.next() != nil)
        feed.finish()
        #expect(await signals.next() == nil)
        var late = feed.signals(of: [.status]).makeAsyncIterator()
        _ = await late.next()
        #expect(await late.next() == nil)
    }

    @Test func `each observer receives one signal for several commits`() async {
        let feed = CommitFeed()
        var busy = feed.signals(of: [.table("T")]).makeAsyncIterator()
        var idle = feed.signals(of: [.table("T")]).makeAsyncIterator()
        for _ in 0..<100 { feed.send(.unknown) }
        #expect(await busy.next() != nil)
        #expect(await idle.next() != nil)
        feed.finish()
        #expect(await busy.next() == nil)
        #expect(await idle.next() == nil)
    }

    @Test func `an observer is asked about the commits of its table and unknown ones only`() {
        let feed = CommitFeed()
        let asked = Mutex<[String]>([])
        let streams = ["T", "U"].map { table in
            feed.signals(of: [.table(table)]) { _ in
                asked.withLock { $0.append(table) }
                return true
            }
        }
        var changes = ChangeSet()
        changes.add(.everything, to: "T")
        feed.send(changes)
        feed.send(.operations)
        feed.send(.unknown)
        withExtendedLifetime(streams) { #expect(asked.withLock { $0 } == ["T", "T", "U"]) }
    }

    @Test func `an observer that begins during a transaction is told of its commit`() async throws {
        let store = CountingStore(try Self.store())
        let (executor, feed) = (DeferredExecutor(), CommitFeed())
        let writer = GroupCommitWriter(
            dataSource: store, executor: executor, commits: feed, stalePageGuard: StalePageGuard())
        let others = feed.signals(of: [.table("U")])
        let late = Mutex<[AsyncStream<Void>]>([])
        let changes = Mutex<[TableChange?]>([])
        store.setBeforeCommit {
            // Its first read does not see the transaction.
            let stream = feed.signals(of: [.table("T")]) { commit in
                changes.withLock { $0.append(commit.change(of: "T")) }
                return true
            }
            late.withLock { $0.append(stream) }
        }
        let write = writer.begin { try $0.upsert([Item(id: "a")], in: "T") }
        executor.run()
        try await write.value
        let received = changes.withLock { $0 }
        #expect(received.count == 1)
        guard case .everything?? = received.first else { return #expect(Bool(false)) }
        withExtendedLifetime((others, late.withLock { $0 })) {}
    }

    @Test func `an observer that has ended is forgotten`() {
        let feed = CommitFeed()
        #expect(feed.observedTables == nil)
        do {
            let stream = feed.signals(of: [.table("T")])
            withExtendedLifetime(stream) { #expect(feed.observedTables != nil) }
        }
        #expect(feed.observedTables == nil)
    }
}
