// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The push and the pulls of rounds, which ``AutoSync/finish(within:)`` ends without cancelling the tasks of callers.
final class RoundParts: Sendable {
    enum Part: Sendable { case push, pull }

    private struct State {
        /// The number of running calls of ``AutoSync/finish(within:)``, during which no pull begins.
        var finishing = 0
        var running: (part: Part, end: AsyncStream<Void>.Continuation)?
    }

    private let state = Mutex(State())

    /// Prevents pulls until ``endFinishing()``, and ends a running one.
    func beginFinishing(endsPull: Bool = true) {
        state.withLock { $0.finishing += 1 }
        if endsPull { end(.pull) }
    }

    func endFinishing() { state.withLock { $0.finishing -= 1 } }

    /// Ends the part if it is running.
    func end(_ part: Part) {
        let end = state.withLock { state in state.running?.part == part ? state.running?.end : nil }
        end?.finish()
    }

    /// Runs a part of a round. Rounds run one at a time, and so do their parts.
    ///
    /// - Returns: the result of the body; `nil` if the part was ended, or must not begin.
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled.
    func run<T: Sendable>(
        _ part: Part, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        let (signals, end) = AsyncStream.makeStream(of: Void.self)
        let mayBegin = state.withLock { state in
            guard part == .push || state.finishing == 0 else { return false }
            state.running = (part, end)
            return true
        }
        guard mayBegin else { return nil }
        defer { state.withLock { $0.running = nil } }
        let result = try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                do {
                    return try await body()
                } catch {
                    // The error is a consequence of the cancellation.
                    if Task.isCancelled { return nil }
                    throw error
                }
            }
            group.addTask {
                for await _ in signals {}
                return nil
            }
            var result: T?
            for try await value in group {
                group.cancelAll()
                result = result ?? value
            }
            return result
        }
        if result == nil { try Task.checkCancellation() }
        return result
    }
}
