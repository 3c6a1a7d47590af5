// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore
import Synchronization
import Testing

/// An observation ends when the context closes, at whichever moment that happens; it never throws because of it.
@Suite struct ObservationEndTests {
    @Test(arguments: StoreKind.allCases)
    func `an observation whose read is running when the context closes ends`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let executor = HeldReads()
            let a = try scenario.device { $0.executor = executor }
            var items = a.table.observe(Todo.query).makeAsyncIterator()
            var statuses = a.context.observeStatus().makeAsyncIterator()
            executor.letPass()
            #expect(try await items.next()?.items.isEmpty == true)
            #expect(try await statuses.next()?.pendingOperations == 0)
            executor.hold()
            try await a.table.insert(["text": "one"])
            async let lastItems = items.next()
            async let lastStatus = statuses.next()
            await executor.waitForReads(2)
            try await a.context.close()
            executor.letPass()
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
        for round in 0..<30 {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<2 {
                        group.addTask { for try await _ in a.table.observe(Todo.query) {} }
                        group.addTask { for try await _ in a.context.observeStatus() {} }
                    }
                    for number in 0..<round % 5 {
                        try await a.table.insert(["text": .text("\(number)")])
                    }
                    for _ in 0..<round { await Task.yield() }
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

/// Runs writes at once, and holds reads back until they may pass.
private final class HeldReads: StoreExecutor {
    private struct State {
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "held-reads")

    func hold() { state.withLock { $0.isHolding = true } }

    func letPass() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for work in held { queue.async(execute: work) }
    }

    /// Waits until that many reads are held.
    func waitForReads(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.held.count < count { state.waiter = (count, continuation) }
                return state.held.count >= count
            }
            if isReached { continuation.resume() }
        }
    }

    func read(_ work: @escaping @Sendable () -> Void) {
        let (isHeld, waiter) = state.withLock { state in
            guard state.isHolding else { return (false, CheckedContinuation<Void, Never>?.none) }
            state.held.append(work)
            guard let waiter = state.waiter, state.held.count >= waiter.count else { return (true, nil) }
            state.waiter = nil
            return (true, waiter.continuation)
        }
        if !isHeld { queue.async(execute: work) }
        waiter?.resume()
    }

    func write(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
