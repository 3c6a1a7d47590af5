// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A gate at which requests wait until a test opens it; nobody sleeps.
public final class RequestGate: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isOpen = false
        var arrivals = 0
        var lastTicket = 0
        /// Tickets of requests that the server still wants to let through.
        var valid: Set<Int> = []
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
    func pass(until stopSignal: StopSignal) async throws {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            state.valid.insert(state.lastTicket)
            return state.lastTicket
        }
        let token = stopSignal.onStop { [self] in void(ticket) }
        defer { stopSignal.remove(token) }
        try await withCheckedThrowingContinuation { continuation in arrive(ticket, continuation) }
    }

    private func arrive(_ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let (isValid, isOpen, observers) = state.withLock { state in
            state.arrivals += 1
            let isValid = state.valid.contains(ticket)
            if isValid, !state.isOpen { state.waiting[ticket] = continuation }
            return (isValid, state.isOpen, state.takeSatisfiedObservers())
        }
        if !isValid {
            continuation.resume(throwing: CancellationError())
        } else if isOpen {
            continuation.resume()
        }
        for observer in observers { observer.resume() }
    }

    /// Turns a request away, whether it has arrived or not.
    private func void(_ ticket: Int) {
        let continuation = state.withLock { state in
            state.valid.remove(ticket)
            return state.waiting.removeValue(forKey: ticket)
        }
        continuation?.resume(throwing: CancellationError())
    }
}
