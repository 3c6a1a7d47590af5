// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Suspends requests until a test opens the gate.
public final class RequestGate: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isOpen = false
        var arrivals = 0
        var lastTicket = 0
        /// Tickets of requests that are not cancelled.
        var active: Set<Int> = []
        /// The suspended requests.
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        /// Tests that wait until `count` requests have arrived, by ticket.
        var observers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

        mutating func nextTicket() -> Int {
            lastTicket += 1
            return lastTicket
        }

        mutating func removeSatisfiedObservers() -> [CheckedContinuation<Void, Never>] {
            let satisfied = observers.filter { $0.value.count <= arrivals }
            for ticket in satisfied.keys { observers[ticket] = nil }
            return satisfied.values.map(\.continuation)
        }
    }

    /// Creates a closed gate.
    public init() {}

    /// Resumes the suspended requests. Later requests are not suspended.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until `count` requests have arrived at the gate, or the task is cancelled.
    public func waitForArrivals(_ count: Int = 1) async {
        let ticket = state.withLock { $0.nextTicket() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.arrivals >= count || Task.isCancelled { return true }
                    state.observers[ticket] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.observers.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }

    /// Waits until the gate opens.
    ///
    /// - Throws: `CancellationError` when the server stops first.
    func wait(until stopSignal: StopSignal) async throws {
        let ticket = state.withLock { state in
            let ticket = state.nextTicket()
            state.active.insert(ticket)
            return ticket
        }
        let token = stopSignal.onStop { [self] in cancel(ticket) }
        defer { stopSignal.remove(token) }
        try await withCheckedThrowingContinuation { continuation in arrive(ticket, continuation) }
    }

    private func arrive(_ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let (isActive, isOpen, observers) = state.withLock { state in
            state.arrivals += 1
            let isActive = state.active.contains(ticket)
            if isActive, !state.isOpen { state.waiting[ticket] = continuation }
            return (isActive, state.isOpen, state.removeSatisfiedObservers())
        }
        if !isActive {
            continuation.resume(throwing: CancellationError())
        } else if isOpen {
            continuation.resume()
        }
        for observer in observers { observer.resume() }
    }

    /// Cancels a request, also one that has not arrived yet.
    private func cancel(_ ticket: Int) {
        let continuation = state.withLock { state in
            state.active.remove(ticket)
            return state.waiting.removeValue(forKey: ticket)
        }
        continuation?.resume(throwing: CancellationError())
    }
}
