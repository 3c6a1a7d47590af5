// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Signals commits to observers.
///
/// Signals are coalesced: an observer that is busy during several commits receives one signal, and then reads the newest
/// state.
final class CommitFeed: Sendable {
    private struct Observers {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastKey = 0
        var isFinished = false
    }

    private let observers = Mutex(Observers())

    /// Whether ``finish()`` was called.
    var isFinished: Bool { observers.withLock { $0.isFinished } }

    /// Returns a stream with a signal at once and one after each commit. It ends when the feed finishes.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let key = observers.withLock { observers -> Int? in
            guard !observers.isFinished else { return nil }
            observers.lastKey += 1
            observers.continuations[observers.lastKey] = continuation
            return observers.lastKey
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.observers.withLock { _ = $0.continuations.removeValue(forKey: key) }
        }
        return stream
    }

    /// Sends a signal to all streams.
    func send() {
        // In the order in which they began, so that a run with the same schedule is the same.
        let continuations = observers.withLock { $0.continuations.sorted { $0.key < $1.key }.map(\.value) }
        for continuation in continuations { continuation.yield() }
    }

    /// Ends all streams.
    func finish() {
        let ended = observers.withLock { observers in
            observers.isFinished = true
            return Array(observers.continuations.values)
        }
        for continuation in ended { continuation.finish() }
    }
}
