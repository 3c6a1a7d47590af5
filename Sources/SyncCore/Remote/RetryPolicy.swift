// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When to ask again after a failure that may pass: capped exponential backoff with full jitter.
public struct RetryPolicy: Sendable, Hashable {
    /// How often one push or pull tries the same request, the first time included.
    public var maxAttempts = 3
    /// The upper bound of the first wait; it doubles with every further one.
    public var initialDelay = Duration.milliseconds(250)
    /// No upper bound grows beyond this.
    public var maxDelay = Duration.seconds(20)
    /// The longest `Retry-After` that is waited for; if the server asks for more, the push or pull gives up instead.
    public var maxRetryAfter = Duration.seconds(60)

    /// The default policy.
    public init() {}

    /// How long to wait before the next attempt, or `nil` to give up.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts have failed, from 1.
    ///   - retryAfter: the text of the answer's `Retry-After`, in seconds or as an HTTP date: a floor.
    ///   - random: any number; full jitter draws the wait from it.
    func delay(afterAttempt attempt: Int, retryAfter: String?, now: Timestamp, random: UInt64) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let bound = min(initialDelay * Double(1 << min(attempt - 1, 30)), maxDelay)
        let jittered = bound * (Double(random >> 11) / Double(1 << 53))
        let floor = retryAfter.flatMap { RetryAfter($0, now: now)?.delay } ?? .zero
        return floor > maxRetryAfter ? nil : max(jittered, floor)
    }
}

/// Keeps retries from multiplying a server's trouble: each one costs, and only successes earn.
final class RetryBudget: Sendable {
    private static let capacity = 500
    private static let cost = 5
    private let tokens = Mutex(capacity)

    /// Takes the price of one retry, or tells that there is not enough left.
    func spend() -> Bool {
        tokens.withLock { tokens in
            guard tokens >= Self.cost else { return false }
            tokens -= Self.cost
            return true
        }
    }

    /// Adds to the budget after a request that succeeded.
    func earn() { tokens.withLock { $0 = min($0 + 1, Self.capacity) } }
}
