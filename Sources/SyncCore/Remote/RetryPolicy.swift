// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// When a request is sent again after a transient failure: capped exponential backoff with full jitter.
public struct RetryPolicy: Sendable, Hashable {
    /// How often one push or pull sends the same request, the first time included.
    public var maxAttempts = 3
    /// The upper bound of the first delay. It doubles with each further one.
    public var initialDelay = Duration.milliseconds(250)
    /// The greatest upper bound of a delay.
    public var maxDelay = Duration.seconds(20)
    /// The longest `Retry-After` that a push or pull waits for; after a longer one it ends.
    public var maxRetryAfter = Duration.seconds(60)

    /// The greatest duration that can be doubled 30 times, or added to the present time, without an overflow: 2177 years.
    static let greatestDelay = Duration.seconds(1 << 36 as Int64)

    /// Returns the upper bound of a delay after a number of doublings, at most 2177 years.
    package static func bound(initial: Duration, greatest: Duration, doublings: Int) -> Duration {
        let initial = min(max(initial, .zero), greatestDelay)
        return min(initial * Double(1 << min(doublings, 30)), min(max(greatest, .zero), greatestDelay))
    }

    /// The default policy.
    public init() {}

    /// Returns the delay before the request is sent again; `nil` when it is not.
    ///
    /// - Parameters:
    ///   - attempt: how often the request has failed, from 1.
    ///   - retryAfter: the value of the response's `Retry-After`, in seconds or as an HTTP date: the shortest delay.
    ///   - jitter: a random number from 0 to below 1.
    func delay(afterAttempt attempt: Int, retryAfter: String?, now: Timestamp, jitter: Double) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let jittered = Self.bound(initial: initialDelay, greatest: maxDelay, doublings: attempt - 1) * jitter
        let floor = RetryAfter.delay(retryAfter, now: now) ?? .zero
        return floor > maxRetryAfter ? nil : max(jittered, floor)
    }
}
