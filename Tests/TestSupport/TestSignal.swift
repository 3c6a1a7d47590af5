// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An event that a test waits for. Signals sent before the wait are counted.
///
/// Only one task can wait at a time.
package struct TestSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

    /// Ends one wait.
    package func send() { continuation.yield() }

    /// Ends all waits, now and later.
    package func finish() { continuation.finish() }

    /// Waits until that many signals have been sent, or ``finish()`` is called.
    ///
    /// - Throws: `CancellationError` when the task is cancelled. Later waits return at once.
    package func wait(for count: Int = 1) async throws {
        var signals = stream.makeAsyncIterator()
        for _ in 0..<count { await signals.next() }
        try Task.checkCancellation()
    }
}
