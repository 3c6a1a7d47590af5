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

    @Test func `an observation throws the error of an invalid query`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            var items = a.table.observe(Todo.query.where(.column("nosuch") == 1)).makeAsyncIterator()
            await expectError(.filterNotSupported) { _ = try await items.next() }
        }
    }
}

/// A store executor that holds back reads when a test asks for it.
private final class HeldReads: StoreExecutor {
    private struct State {
        var isHolding = false
        var held: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "held-reads")
    private let heldRead = TestSignal()

    func hold() { state.withLock { $0.isHolding = true } }

    /// Runs the held reads, and later reads at once.
    func release() {
        let held = state.withLock { state in
            defer { state = State() }
            return state.held
        }
        for work in held { queue.async(execute: work) }
    }

    /// Waits until that many reads are held.
    func waitForHeldReads(_ count: Int) async throws { try await heldRead.wait(for: count) }

    func read(_ work: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append(work) }
            return state.isHolding
        }
        if isHeld { heldRead.send() } else { queue.async(execute: work) }
    }

    func write(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
