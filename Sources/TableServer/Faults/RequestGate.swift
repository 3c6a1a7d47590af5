// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A gate at which requests wait until a test opens it; nobody sleeps.
public final class RequestGate: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isOpen = false
        var arrivals = 0
        var nextToken = 0
        /// Requests at the gate.
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        /// Tests that wait for that many requests to arrive.
        var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeSatisfiedObservers() -> [CheckedContinuation<Void, Never>] {
            let satisfied = observers.filter { $0.count <= arrivals }
            observers.removeAll { $0.count <= arrivals }
            return satisfied.map(\.continuation)
        }
    }

    /// Makes a closed gate.
    public init() {}

    /// Lets all requests through, those that wait and those to come.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns as soon as that many requests have come to the gate.
    public func waitForArrivals(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isSatisfied = state.withLock { state in
                if state.arrivals >= count { return true }
                state.observers.append((count, continuation))
                return false
            }
            if isSatisfied { continuation.resume() }
        }
    }

    /// Waits for the gate to open.
    ///
    /// - Throws: `CancellationError` when the server stops meanwhile.
    func pass() async throws {
        let token = state.withLock { state in
            state.nextToken += 1
            return state.nextToken
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                arrive(continuation, token: token)
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: token) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func arrive(_ continuation: CheckedContinuation<Void, any Error>, token: Int) {
        let isCancelled = Task.isCancelled
        let (passes, observers) = state.withLock { state in
            state.arrivals += 1
            let passes = state.isOpen || isCancelled
            if !passes { state.waiting[token] = continuation }
            return (passes, state.takeSatisfiedObservers())
        }
        if passes { isCancelled ? continuation.resume(throwing: CancellationError()) : continuation.resume() }
        for observer in observers { observer.resume() }
    }
}
