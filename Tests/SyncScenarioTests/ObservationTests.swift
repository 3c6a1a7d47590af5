// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore
import Synchronization
import TestSupport
import Testing

/// Observations of queries and of the status, and their end when the context closes.
@Suite struct ObservationTests {
    @Test(arguments: StoreKind.allCases)
    func `an observed query yields a new result only after a change of its rows`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            var results = device.table.observe(Todo.query.where(.column("complete") == false))
                .makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await device.table.insert(["id": "done", "complete": true])
            try await device.table.insert(["id": "open", "complete": false])
            #expect(try await results.next()?.items.map(\.id) == ["open"])
            try await device.table.delete(id: "done")
            try await device.table.update(id: "open", ["complete": true])
            #expect(try await results.next()?.items.isEmpty == true)
            try await device.context.close()
            #expect(try await results.next() == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an observation whose read is running when the context closes ends`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let executor = HeldReads()
            let a = try scenario.device { $0.executor = executor }
            var items = a.table.observe(Todo.query).makeAsyncIterator()
            var statuses = a.context.observeStatus().makeAsyncIterator()
            executor.release()
            #expect(try await items.next()?.items.isEmpty == true)
            #expect(try await statuses.next()?.pendingOperations == 0)
            executor.hold()
            try await a.table.insert(["text": "one"])
            async let lastItems = items.next()
            async let lastStatus = statuses.next()
            try await executor.waitForHeldReads(2)
            try await a.context.close()
            executor.release()
            #expect(try await lastItems == nil)
            #expect(try await lastStatus == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an observation that starts after the context closes ends at once`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.context.close()
            var items = a.table.observe(Todo.query).makeAsyncIterator()
            var statuses = a.context.observeStatus().makeAsyncIterator()
            #expect(try await items.next() == nil)
            #expect(try await statuses.next() == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `observations end without an error whenever the context closes`(_ kind: StoreKind) async throws {
        for (inserts, results) in (0..<25).map({ ($0 % 5, $0 / 5) }) {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device()
                let received = TestSignal()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<2 {
                        group.addTask { for try await _ in a.table.observe(Todo.query) { received.send() } }
                        group.addTask { for try await _ in a.context.observeStatus() { received.send() } }
                    }
                    for number in 0..<inserts {
                        try await a.table.insert(["text": .text("\(number)")])
                    }
                    // Each of the four observations yields at least one result.
                    try await received.wait(for: results)
                    try await a.context.close()
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `commits that do not change the result run no query`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let executor = HeldReads()
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let a = try scenario.device(tables: [Todo.definition, other]) { $0.executor = executor }
            try await a.table.insert(["id": "b", "text": "b"])
            // The insert may return before its commit is signalled, which without an observer is a change of anything.
            await executor.waitForWrites()
            var items = a.table.observe(Todo.query.order(by: "text").limit(1)).makeAsyncIterator()
            #expect(try await items.next()?.items.map(\.id) == ["b"])
            let reads = executor.reads
            async let next = items.next()
            try await a.context.table("Other").insert(["text": "another table"])
            try await a.table.insert(["id": "c", "text": "sorted after the only item of the result"])
            try await a.table.update(id: "b", ["text": "b"])
            try await a.table.delete(id: "c")
            try await a.table.insert(["id": "a", "text": "a"])
            #expect(try await next?.items.map(\.id) == ["a"])
            #expect(executor.reads == reads + 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `new versions are a new result only for queries that ask for system properties`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "1", "text": "one"])
            var items = a.table.observe(Todo.query).makeAsyncIterator()
            var newest = a.table.observe(Todo.query.order(byDescending: "updatedAt")).makeAsyncIterator()
            #expect(try await items.next()?.items.first?.system.version == nil)
            #expect(try await newest.next()?.items.first?.system.version == nil)
            async let nextItems = items.next()
            async let nextNewest = newest.next()
            try await a.context.push()
            #expect(try await nextNewest?.items.first?.system.version != nil)
            try await a.table.insert(["id": "2", "text": "two"])
            #expect(try await nextItems?.items.map(\.id) == ["1", "2"])
        }
    }

    @Test func `an observation throws the error of an invalid query`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            var items = a.table.observe(Todo.query.where(.column("nosuch") == 1)).makeAsyncIterator()
            await expectError(.filterNotSupported) { _ = try await items.next() }
        }
    }

    @Test func `an observation that has failed ends when its task is cancelled`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            let task = Task {
                var items = a.table.observe(Todo.query.where(.column("nosuch") == 1)).makeAsyncIterator()
                await #expect(throws: SyncError.self) { try await items.next() }
                withUnsafeCurrentTask { $0?.cancel() }
                let next = try await items.next()
                #expect(next == nil)
            }
            try await task.value
        }
    }
}

/// A store executor that holds back reads when a test asks for it.
private final class HeldReads: StoreExecutor {
    private struct State {
        var isHolding = false
        var reads = 0
        var held: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "held-reads")
    private let heldRead = TestSignal()

    /// The number of reads so far.
    var reads: Int { state.withLock { $0.reads } }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Runs the held reads, and later reads at once.
    func release() {
        let held = state.withLock { state in
            defer { (state.isHolding, state.held) = (false, []) }
            return state.held
        }
        for work in held { queue.async(execute: work) }
    }

    /// Waits until that many reads are held.
    func waitForHeldReads(_ count: Int) async throws { try await heldRead.wait(for: count) }

    /// Waits until earlier writes have ended, and have signalled their commits.
    func waitForWrites() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    func read(_ work: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            state.reads += 1
            if state.isHolding { state.held.append(work) }
            return state.isHolding
        }
        if isHeld { heldRead.send() } else { queue.async(execute: work) }
    }

    func write(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
