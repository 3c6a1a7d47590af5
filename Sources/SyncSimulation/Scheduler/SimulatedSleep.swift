// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension SimulationScheduler {
    /// Suspends the task for a virtual duration.
    ///
    /// - Throws: `CancellationError`.
    func sleep(_ nanoseconds: Int64) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let timer = schedule(after: nanoseconds) { sleeper.resume(with: .success(())) }
                sleeper.begin(continuation, timer: timer)
            }
        } onCancel: {
            if let timer = sleeper.cancel() { cancel(timer) }
        }
    }
}

/// The continuation of one sleep, resumed once: by its timer or by cancellation.
private final class Sleeper: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var timer: Int?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Void, any Error>, timer: Int) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { (state.continuation, state.timer) = (continuation, timer) }
            return state.isCancelled
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
    }

    func resume(with result: Result<Void, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }

    /// Returns the timer to cancel.
    func cancel() -> Int? {
        let timer = state.withLock { state in
            state.isCancelled = true
            return state.timer
        }
        resume(with: .failure(CancellationError()))
        return timer
    }
}
