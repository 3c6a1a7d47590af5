// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets one caller at a time through, in the order they came, also across suspensions.
final class AsyncMutex: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextTicket = 0
    }

    private let state = Mutex(State())

    /// How many callers wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for its turn, runs the body and passes the turn on.
    ///
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled while it waits.
    func take<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await wait()
        defer { passOn() }
        return try await body()
    }

    private func wait() async throws {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    // A cancellation before this line is seen here, a later one finds the ticket waiting.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.isTaken else {
                        state.isTaken = true
                        return .success(())
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiting.firstIndex { $0.ticket == ticket }.map {
                    state.waiting.remove(at: $0).continuation
                }
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func passOn() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
