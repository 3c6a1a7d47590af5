// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells whoever observes that something was committed.
///
/// A listener that is busy misses nothing: one signal waits for it, and it reads the newest state then.
final class CommitFeed: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextKey = 0
        var isFinished = false
    }

    private let listeners = Mutex(Listeners())

    /// Whether ``finish()`` was called.
    var isFinished: Bool { listeners.withLock { $0.isFinished } }

    /// Signals, one at once and then one after each commit, until the feed finishes or nobody listens.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let key = listeners.withLock { listeners -> Int? in
            guard !listeners.isFinished else { return nil }
            listeners.nextKey += 1
            listeners.continuations[listeners.nextKey] = continuation
            return listeners.nextKey
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: key) }
        }
        return stream
    }

    /// Signals a commit.
    func send() {
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield() }
    }

    /// Ends all streams.
    func finish() {
        let ended = listeners.withLock { listeners in
            listeners.isFinished = true
            return Array(listeners.continuations.values)
        }
        for continuation in ended { continuation.finish() }
    }
}
